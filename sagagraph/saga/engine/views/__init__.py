"""Views of a saga for people and programs, derived from its journal."""
