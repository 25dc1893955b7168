"""Independent validators: what they are, what they answer, how they are run."""
