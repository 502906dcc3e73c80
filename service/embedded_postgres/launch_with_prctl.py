"""
Become an unprivileged process that ends with its parent, then run a program.

Run by path, as
``launch_with_prctl.py UID GID SERVICE FOLDER... -- PROGRAM ARGUMENT...``, never
imported: only the standard library is there, so it starts in 10 ms. For Linux:
PR_SET_PDEATHSIG has the kernel interrupt the program when the service ends.
It is a process of its own because these steps may not run between fork and exec of
a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_SET_SECUREBITS = 28
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
SECBIT_NO_SETUID_FIXUP = 1 << 2

CAP_DAC_READ_SEARCH = 2
CAP_KILL = 5
CAP_SETPCAP = 8
CAPABILITY_VERSION_3 = 0x20080522

ADVICE = "run the service as an unprivileged user, or set a database URL"

libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    separator = arguments.index("--")
    uid, gid, service = map(int, arguments[:3])
    folders, command = arguments[3:separator], arguments[separator + 1 :]
    if os.geteuid() == 0:
        drop_root(uid, gid, needed=[*folders, command[0]])
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # Last, because the kernel resets this signal whenever credentials change.
    prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != service:
        sys.exit("the service ended before PostgreSQL was started")
    os.execv(command[0], command)  # noqa: S606 - our own argument list


def drop_root(uid: int, gid: int, *, needed: list[str]) -> None:
    """Give up root; where folders are closed, keep only the right to read and enter."""
    if not has_capability(CAP_KILL):
        sys.exit(f"without the capability KILL, root can't stop PostgreSQL: {ADVICE}")
    try:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        prctl(PR_SET_KEEPCAPS, 1)
        os.setresuid(uid, uid, uid)
    except OSError:
        sys.exit(f"root may not become user {uid} to run PostgreSQL: {ADVICE}")
    # access() ignores the capabilities that are still kept.
    if all(os.access(path, os.R_OK | os.X_OK) for path in needed):
        set_capabilities()
        return
    try:
        set_capabilities(CAP_DAC_READ_SEARCH, CAP_SETPCAP)
        # PostgreSQL checks with access(), which honours the capabilities of an
        # unprivileged user only under this bit.
        prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
        set_capabilities(CAP_DAC_READ_SEARCH)
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH)
    except OSError:
        closed = [path for path in needed if not os.access(path, os.R_OK | os.X_OK)]
        sys.exit(
            f"user {uid}, as which PostgreSQL runs, can't open"
            f" {' and '.join(closed)} without the capabilities SETPCAP and"
            f" DAC_READ_SEARCH: {ADVICE}"
        )
    # A capability to execute files would be one to write all files, too.
    if not os.access(needed[-1], os.X_OK):
        sys.exit(
            f"user {uid}, as which PostgreSQL runs, can't execute {needed[-1]}:"
            f" chmod -R go+rX {os.path.dirname(needed[-1])}, or {ADVICE}"  # noqa: PTH120 - pathlib costs 5 ms
        )


def has_capability(capability: int) -> bool:
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - pathlib costs 5 ms
        effective = next(line for line in status if line.startswith("CapEff:"))
    return bool(int(effective.split()[1], 16) >> capability & 1)


def set_capabilities(*capabilities: int) -> None:
    """Make these, all below number 32, the only capabilities, in all three sets."""
    mask = sum(1 << capability for capability in capabilities)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    check(libc.capset(header, sets))


def prctl(option: int, *arguments: int) -> None:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    check(libc.prctl(option, *(ctypes.c_ulong(argument) for argument in padded)))


def check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(f"can't run PostgreSQL: {error}")
