"""The server: the application, its REST interface, who may enter, how it listens and how it stops."""
