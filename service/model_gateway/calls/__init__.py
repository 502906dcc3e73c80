"""Which target a model call goes to, and whether it may."""
