"""How good schedules of job shops are after a few seconds, and what their repair changes beside scheduling anew."""
