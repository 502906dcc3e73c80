"""Why the embedded PostgreSQL doesn't run."""


class EmbeddedPostgresError(Exception):
    """The message ends with the last lines of PostgreSQL's log, if it wrote any."""


class EmbeddedPostgresUnsupportedError(EmbeddedPostgresError):
    """This machine or account can't run it at all: a database URL is needed."""


class DataFolderInUseError(EmbeddedPostgresError):
    """Another process runs PostgreSQL on the same data folder."""
