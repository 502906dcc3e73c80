"""HTTP/1.1 to servers of others: guarded connections, answers read or relayed."""
