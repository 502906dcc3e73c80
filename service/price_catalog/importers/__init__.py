"""Read published price lists; pure: no database, no network, no clock."""
