"""Hundreds of generated trips planned, judged, booked and audited, and compared with every trip that there is."""
