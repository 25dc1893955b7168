"""Planning of job shops: dispatching, tabu search, CP-SAT, repair."""
