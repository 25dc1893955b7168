"""Those who are measured. Each module opens on a store's URL and offers commands by name; each runs in a process of its own."""
