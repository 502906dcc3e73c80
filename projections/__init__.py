"""The read side: the log in, answers out.

A projector folds events into tables; a query reads them; a route answers with them.
Everything here can be dropped and filled again from the log.
"""
