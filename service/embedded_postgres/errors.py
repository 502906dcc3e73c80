"""The exceptions of the embedded PostgreSQL."""


class EmbeddedPostgresError(Exception):
    """PostgreSQL failed; the message ends with the last lines of its log, if any."""


class EmbeddedPostgresUnsupportedError(EmbeddedPostgresError):
    """This machine or user account can't run it: a database URL is needed."""


class DataFolderInUseError(EmbeddedPostgresError):
    """Another process runs PostgreSQL on the same data folder."""
