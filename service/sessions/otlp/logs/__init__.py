"""Log events of agent programs that report no spans: they are read as spans."""
