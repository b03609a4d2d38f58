"""Taking functions from a host and giving them back, by libvirt's node devices."""
