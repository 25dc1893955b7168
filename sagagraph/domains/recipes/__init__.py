"""Recipes: several dishes, few cooks, steps that must follow within minutes; plans, repair, and an independent validator."""
