"""The exceptions of the embedded PostgreSQL."""

from service.errors import ConfigError


class EmbeddedPostgresError(Exception):
    """PostgreSQL failed; the message ends with the last lines of its log, if any."""


class EmbeddedPostgresUnsupportedError(EmbeddedPostgresError):
    """This machine or user account can't run it: a database URL is needed."""


class UnusableDataFolderError(EmbeddedPostgresError, ConfigError):
    """This version of the service can't run PostgreSQL there, however often tried."""


class DataFolderInUseError(EmbeddedPostgresError):
    """Another process runs PostgreSQL on the same data folder."""
