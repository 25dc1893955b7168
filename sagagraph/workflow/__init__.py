"""The canonical workflow: operations, policies, conditions and well-formedness. Pure."""
