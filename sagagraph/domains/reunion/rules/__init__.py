"""The rules of FORMATS, "How a plan is judged", one function each. They share nothing with what makes plans."""
