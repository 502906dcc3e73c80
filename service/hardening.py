"""Keep this process's memory to itself: it holds keys and values."""

import ctypes
import os
import resource
import sys

PR_SET_DUMPABLE = 4


def forbid_dumps() -> None:
    """Leave no core file, and close /proc/PID/mem and ptrace to the same user.

    Root can still read everything. A program that this process starts has the limit
    on core files too, but is as open to its user as any other.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
