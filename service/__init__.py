"""The write side: HTTP in, events out.

Data flows one way: route, command handler, aggregate, event log. What follows
the log, and answers the questions, is in the package ``projections``.
"""

__version__ = "0.1.0"
