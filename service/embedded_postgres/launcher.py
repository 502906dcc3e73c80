"""
Become an unprivileged process that ends with its parent, then run a program.

Run by path, as ``launcher.py UID GID PARENT FOLDER... -- PROGRAM ARGUMENT...``,
never imported: only the standard library is there, so it starts in 10 ms.
A process of its own, because the steps below may not run between fork and exec
of a process with threads.
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

CAP_DAC_OVERRIDE = 1
CAP_KILL = 5
CAP_SETPCAP = 8
CAPABILITY_VERSION_3 = 0x20080522

# Nothing of the service's environment (keys, PG*, LANG) reaches PostgreSQL.
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}

NOT_AS_ROOT = "run the service as an ordinary user, or give it a database URL"

libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    separator = arguments.index("--")
    uid, gid, parent = map(int, arguments[:3])
    folders, command = arguments[3:separator], arguments[separator + 1 :]
    if os.geteuid() == 0:
        become(uid, gid, reaching=[*folders, command[0]])
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # Only now: the kernel forgets this signal whenever credentials change.
    prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != parent:
        sys.exit("the service ended before PostgreSQL was started")
    os.execve(command[0], command, ENVIRONMENT)  # noqa: S606 - our own argument list


def become(uid: int, gid: int, *, reaching: list[str]) -> None:
    """Give up root, except for passing closed folders where that can't be helped."""
    if not has_capability(CAP_KILL):
        sys.exit(
            f"without the capability KILL, root can't stop PostgreSQL: {NOT_AS_ROOT}"
        )
    try:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        prctl(PR_SET_KEEPCAPS, 1)
        os.setresuid(uid, uid, uid)
    except OSError:
        sys.exit(f"root may not become user {uid} for PostgreSQL: {NOT_AS_ROOT}")
    # access() asks for the bare user, whatever capabilities are still kept.
    if all(os.access(path, os.R_OK | os.X_OK) for path in reaching):
        set_capabilities()
        return
    try:
        set_capabilities(CAP_DAC_OVERRIDE, CAP_SETPCAP)
        # PostgreSQL itself looks with access(), which honours capabilities of an
        # ordinary user only under this bit.
        prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
        set_capabilities(CAP_DAC_OVERRIDE)
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE)
    except OSError:
        closed = [path for path in reaching if not os.access(path, os.R_OK | os.X_OK)]
        sys.exit(
            f"user {uid} of PostgreSQL can't reach {' and '.join(closed)}"
            f" without the capabilities SETPCAP and DAC_OVERRIDE: {NOT_AS_ROOT}"
        )


def has_capability(capability: int) -> bool:
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - pathlib costs 5 ms
        effective = next(line for line in status if line.startswith("CapEff:"))
    return bool(int(effective.split()[1], 16) >> capability & 1)


def set_capabilities(*capabilities: int) -> None:
    """Hold exactly these capabilities, below number 32, in all three sets."""
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
