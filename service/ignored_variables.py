"""Environment variables that libraries read, and that may not change the service."""

import os
from collections.abc import Iterable
from typing import Final

from psycopg.pq import Conninfo

# libpq reads these beside those of its connection parameters.
NO_PARAMETER: Final = frozenset(
    {"PGDATESTYLE", "PGGEQO", "PGREQUIRESSL", "PGSERVICEFILE", "PGSYSCONFDIR", "PGTZ"}
)
# Never honoured. The database URL says which server, and the service how it speaks to
# it. The last two would write the keys of TLS connections, or metrics, to files.
IGNORED: Final = frozenset(
    {
        "PGAPPNAME",
        "PGCLIENTENCODING",
        "PGCONNECT_TIMEOUT",
        "PGDATESTYLE",
        "PGGEQO",
        "PGHOSTADDR",
        "PGOPTIONS",
        "PGSERVICE",
        "PGTZ",
        "SSLKEYLOGFILE",
        "PROMETHEUS_MULTIPROC_DIR",
    }
)


def libpq_variables() -> frozenset[str]:
    """Return the name of every variable that libpq reads."""
    variables = (option.envvar for option in Conninfo.get_defaults())
    return NO_PARAMETER | {name.decode() for name in variables if name is not None}


def remove_variables(names: Iterable[str]) -> list[str]:
    """Remove variables from this process's environment; return those that were set.

    Connection parameters can't override all of libpq's: a service that isn't defined
    fails every connection, and PGTZ has precedence over the parameter ``options``.
    Programs that are started later don't get them either.
    """
    given = sorted(name for name in names if name in os.environ)
    for name in given:
        del os.environ[name]
    return given
