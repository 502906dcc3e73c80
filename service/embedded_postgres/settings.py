"""How the embedded PostgreSQL is set up: encoding, settings, who may connect."""

import pwd
from pathlib import Path

INITDB_OPTIONS = (
    "--username=postgres",
    "--encoding=UTF8",
    # PostgreSQL's own collation: no locale of the host has to exist, and an index
    # stays in order when the host's C library is upgraded.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums",
    "--auth=reject",
    "--no-instructions",
)

# An operator may change these with ALTER SYSTEM.
TUNABLE = {
    "max_connections": "100",
    "shared_buffers": "256MB",
    "wal_compression": "on",
    "jit": "off",
    "idle_in_transaction_session_timeout": "60s",
    # Containers have 64 MB of /dev/shm by default, too little for a parallel query.
    "dynamic_shared_memory_type": "mmap",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] %a ",
}

# These go on the command line, which wins over ALTER SYSTEM.
FIXED = {
    "listen_addresses": "",
    "port": "5432",
    "fsync": "on",
    "full_page_writes": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_destination": "stderr",
    "logging_collector": "off",
    # What a statement carries may be a secret: its text, its parameters and the
    # DETAIL that quotes a refused row stay out of the log.
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
}


def files(*, as_root: bool) -> dict[str, str]:
    """Return the text of each file to which the command line points."""
    header = "# Written at every start; use ALTER SYSTEM to change a setting.\n"
    tunable = "".join(f"{name} = '{value}'\n" for name, value in TUNABLE.items())
    # Only who started the server, and root, reach its socket. Root's server runs as
    # a user that others may share, so there the socket also asks who is calling.
    method = "peer map=starter" if as_root else "trust"
    return {
        "postgresql.conf": header + tunable,
        "pg_hba.conf": f"local all all {method}\nlocal replication all {method}\n",
        "pg_ident.conf": f'starter "{pwd.getpwuid(0).pw_name}" all\n'
        if as_root
        else "",
    }


def command_line(home: Path, socket_folder: Path) -> list[str]:
    settings = FIXED | {
        "config_file": str(home / "postgresql.conf"),
        "hba_file": str(home / "pg_hba.conf"),
        "ident_file": str(home / "pg_ident.conf"),
        "unix_socket_directories": f'"{socket_folder}"',
    }
    return [word for item in settings.items() for word in ("-c", "=".join(item))]
