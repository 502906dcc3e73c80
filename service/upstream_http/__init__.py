"""HTTP/1.1 to servers of others: answers that are read, or relayed as they arrive."""
