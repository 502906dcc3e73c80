"""The set-up of the embedded PostgreSQL: encoding, settings, who may connect."""

import fcntl
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
    # It subscribes to nothing. With origins, a checkpoint on a full disk ends the
    # server (PANIC), where it could still answer reads.
    "max_active_replication_origins": "0",
    # Containers have 64 MB of /dev/shm by default, too little for a parallel query.
    "dynamic_shared_memory_type": "mmap",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] %a ",
}
if hasattr(fcntl, "F_FULLFSYNC"):
    # On macOS, fsync() leaves what was written in the drive's cache.
    TUNABLE["wal_sync_method"] = "fsync_writethrough"

# These go on the command line, which takes precedence over ALTER SYSTEM.
FIXED = {
    "listen_addresses": "",
    "port": "5432",
    "fsync": "on",
    "full_page_writes": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_destination": "stderr",
    "logging_collector": "off",
    # Statements may contain secrets, so the log has neither their text, nor their
    # parameters, nor the DETAIL line that quotes a refused row.
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",
}


def files(*, as_root: bool) -> dict[str, str]:
    """Return the name and text of each file that the command line refers to."""
    header = "# Written at every start; use ALTER SYSTEM to change a setting.\n"
    tunable = "".join(f"{name} = '{value}'\n" for name, value in TUNABLE.items())
    # Only the user who started the server, and root, can open its socket. Root's
    # server runs as a user that other programs may share, so it also asks the kernel
    # which user is connecting.
    method = "peer map=service" if as_root else "trust"
    return {
        "postgresql.conf": header + tunable,
        "pg_hba.conf": f"local all all {method}\nlocal replication all {method}\n",
        "pg_ident.conf": f'service "{pwd.getpwuid(0).pw_name}" all\n'
        if as_root
        else "",
    }


def command_line(
    home: Path, socket_folder: Path, *, restart_after_crash: bool
) -> list[str]:
    settings = FIXED | {
        "restart_after_crash": "on" if restart_after_crash else "off",
        "config_file": str(home / "postgresql.conf"),
        "hba_file": str(home / "pg_hba.conf"),
        "ident_file": str(home / "pg_ident.conf"),
        "unix_socket_directories": f'"{socket_folder}"',
    }
    return [word for item in settings.items() for word in ("-c", "=".join(item))]
