"""Goals over registered actions: planned by templates or a model."""
