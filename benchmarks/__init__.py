"""What durability costs: measured beside the floor and the peers, everything in one run (`make bench`)."""
