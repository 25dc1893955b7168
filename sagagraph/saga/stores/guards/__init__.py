"""Guards: what a store checks about its database before it relies on it: its files, its durability, its history."""
