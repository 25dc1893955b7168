"""Reunions: who is where and when, who drives whom, who watches the oven; and what to change when a flight is late."""
