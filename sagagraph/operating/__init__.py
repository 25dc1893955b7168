"""Operating: what those who run SagaGraph for others look at: meters, and who did what."""
