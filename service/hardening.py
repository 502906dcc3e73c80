"""Keep this process's memory private: it holds keys and secret values."""

import ctypes
import os
import resource

PR_SET_DUMPABLE = 4


def forbid_dumps() -> None:
    """Forbid core files and, on Linux, other processes of the same user to read memory.

    There, /proc/PID/mem and ptrace are closed to all but root. A program that this
    process starts inherits the limit on core files, but not the protection of memory.
    Other systems have no prctl(2); docs/operations/install.md says what that means.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl") and libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
