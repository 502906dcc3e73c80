"""Keys: sealing, rotation, destruction."""
