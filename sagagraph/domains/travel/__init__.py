"""Trips: flights, trains and hotels, planned, judged and booked."""
