"""Recipes in plain words."""
