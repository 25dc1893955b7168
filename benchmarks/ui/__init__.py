"""Many people at once on one server of the app."""
