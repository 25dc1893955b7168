"""Language: English as people write it. A passage, readers that tag typed values in it, and the unread rest. See `passage`."""
