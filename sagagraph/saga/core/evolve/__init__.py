"""Evolution of the state: what each journalled event changes."""
