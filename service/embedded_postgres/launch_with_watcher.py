"""
Become an unprivileged process, start a watcher, then run a program.

Run by path, as
``launch_with_watcher.py UID GID SERVICE FOLDER... -- PROGRAM ARGUMENT...``, never
imported. Standard input is a pipe whose write end the service alone holds. For any
Unix: it uses nothing but POSIX.

The watcher is a child of the program and does nothing but read the pipe. However the
service ends, the kernel closes the write end; the watcher reads end-of-file and
interrupts the program. And if the watcher is killed, PostgreSQL takes the death of a
child that it doesn't know for a crash, and ends by itself under the setting
restart_after_crash=off. So no order of kills leaves a PostgreSQL behind.
"""

import os
import signal
import sys

ADVICE = "run the service as an unprivileged user, or set a database URL"


def main(arguments: list[str]) -> None:
    separator = arguments.index("--")
    uid, gid = map(int, arguments[:2])
    folders, command = arguments[3:separator], arguments[separator + 1 :]
    if os.geteuid() == 0:
        drop_root(uid, gid, needed=[*folders, command[0]])
    start_watcher()
    os.execv(command[0], command)  # noqa: S606 - our own argument list


def drop_root(uid: int, gid: int, *, needed: list[str]) -> None:
    try:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    except OSError:
        sys.exit(f"root may not become user {uid} to run PostgreSQL: {ADVICE}")
    closed = [path for path in needed if not os.access(path, os.R_OK | os.X_OK)]
    if closed:
        sys.exit(
            f"user {uid}, as which PostgreSQL runs, can't open"
            f" {' and '.join(closed)}: {ADVICE}"
        )


def start_watcher() -> None:
    # Until the program has its own handler, this ends it without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = os.getpid()
    if os.fork() == 0:
        try:
            os.read(0, 1)
            # The id may be another program's once the parent has ended.
            if os.getppid() == program:
                os.kill(program, signal.SIGINT)
        finally:
            os._exit(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(f"can't run PostgreSQL: {error}")
