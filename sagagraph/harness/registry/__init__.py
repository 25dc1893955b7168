"""Registry: harnesses in YAML files, read exactly and refused by name where something is wrong."""
