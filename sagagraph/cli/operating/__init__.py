"""Operating: the commands of those who run SagaGraph: stores, workers, access, and sagas of whatever domain."""
