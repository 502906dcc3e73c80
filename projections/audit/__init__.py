"""The history of everything: who changed what, and proof of it."""
