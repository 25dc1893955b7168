"""A reunion in sentences, turned into a logistics problem. What is missing is asked for, what was said before is kept."""
