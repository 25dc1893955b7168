"""Calling: the functions of actions are called, in threads where need be, and what they return is validated."""
