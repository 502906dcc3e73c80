"""The embedded PostgreSQL: a child process that ends when the service ends."""
