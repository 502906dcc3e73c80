"""The command line: a module for each command, and what they share."""

import os

# psycopg reads it when it is imported. The service is tested with what is installed.
os.environ.pop("PSYCOPG_IMPL", None)
