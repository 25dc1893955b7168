"""Goals: a domain over anybody's own actions, planned by templates or by a model."""
