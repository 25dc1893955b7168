"""The server: the application, its REST interface, who may come in, how it listens and how it stops."""
