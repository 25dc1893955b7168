"""Context: what one agent or validator may know: small, selected and hashed."""
