"""Access: who somebody is, which role they have, and what each role may do on each route."""
