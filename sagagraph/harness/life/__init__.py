"""Life of a harness: mutation tests, freezing, proposals and approvals, overrides that a person signs, the audit."""
