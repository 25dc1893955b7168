"""Registry: harnesses in YAML files, read exactly and refused, with the name of the file and the place, if something is wrong."""
