"""What every route shares: parsing, the envelope, errors, and running a command."""
