"""Recording of agents' calls: their ends, batches of them, and refusals."""
