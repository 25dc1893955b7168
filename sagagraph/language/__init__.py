"""English as people write it: one passage, readers that tag typed values in it, and what nobody understood. See `passage`."""
