"""Teams: large reunions, planned part by part."""
