"""The command ``art``: the client on the command line."""
