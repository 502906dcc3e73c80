"""What people would use instead, measured in turn with this service."""
