"""Who holds what on one host."""
