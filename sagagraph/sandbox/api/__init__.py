"""HTTP interface of the service (docs/sandbox-api.md)."""
