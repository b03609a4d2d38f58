"""Device specs: which functions of a host may be handed out."""
