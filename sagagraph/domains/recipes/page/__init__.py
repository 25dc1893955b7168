"""Page: recipes in the chat and the app."""
