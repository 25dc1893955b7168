"""Teams of agents, as a graph inside the node that plans."""
