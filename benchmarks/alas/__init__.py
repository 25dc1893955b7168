"""Job shops of ALAS and others: rules, plain CP-SAT, other libraries and SagaGraph, at the same seconds on the same cores."""
