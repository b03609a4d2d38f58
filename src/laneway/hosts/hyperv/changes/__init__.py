"""Taking functions from a Windows host for Discrete Device Assignment, and giving them back."""
