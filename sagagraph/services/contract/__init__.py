"""Contract of services: every action in real sagas over an unreliable line, judged by the service's own records."""
