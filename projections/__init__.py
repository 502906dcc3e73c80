"""The read side: the log in, answers out.

A projector folds events into tables, a query reads them, a route answers with them.
``engine`` runs projectors and answers reads from one snapshot. Tables in schema
``read`` can be dropped and filled again from the log; ``destruction`` alone has effects
that can't be undone: it deletes sealed values and keys in schema ``events``.
"""
