"""Structural faults for the plans of every domain: one table a domain, judged as the planning graph judges."""
