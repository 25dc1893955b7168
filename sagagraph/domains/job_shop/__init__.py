"""Job shops: which job is on which machine when; schedules, their repair, and an independent validator of both."""
