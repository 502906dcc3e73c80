"""Model calls: the list, and one with the reasons for its target."""
