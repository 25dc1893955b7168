"""The pure core of a saga: events, commands, state, decide, evolve, next steps. README.md says in which order to read it."""
