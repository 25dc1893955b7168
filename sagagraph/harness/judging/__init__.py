"""Judging: artifacts against rules, in exact numbers; it only detects, and corrects nothing."""
