"""Which preset answers each name of a model that an agent sends."""
