"""Rules of docs/formats.md section 10, one function each. They share nothing with what makes plans."""
