"""What model calls look like as bytes: bodies, headers, errors, streams."""
