"""What one agent or validator may know: small, chosen, and hashed."""
