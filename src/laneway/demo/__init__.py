"""Example hosts of our own making, to see claims, refusals and reasons without any hardware."""
