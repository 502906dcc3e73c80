"""Demo data, made through the service's own API as any client would."""
