"""What it costs to relay an event of a model's stream, beside a bare relay."""
