"""The user account as which the embedded PostgreSQL runs."""

import os
import pwd
from contextlib import suppress
from pathlib import Path

from service.embedded_postgres.errors import EmbeddedPostgresUnsupportedError

ADVICE = "run the service as an unprivileged user, or set a database URL"


def server_account(cluster: Path) -> tuple[int, int]:
    """
    Return the user id and group id of PostgreSQL.

    They are this process's own. If those are root's, they are those of the cluster's
    owner, or at the first start those of user ``postgres`` or ``nobody``.

    :raises EmbeddedPostgresUnsupportedError: if PostgreSQL would refuse them all
    """
    uid = os.geteuid()
    if uid != 0:
        if not cluster.exists() and not _has_name(uid):
            raise EmbeddedPostgresUnsupportedError(
                f"PostgreSQL refuses user id {uid}, because it has no name on this"
                " machine: run the service as a user with a name, or set a database URL"
            )
        return uid, os.getegid()
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return owner.st_uid, owner.st_gid
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            account = pwd.getpwnam(name)
            return account.pw_uid, account.pw_gid
    raise EmbeddedPostgresUnsupportedError(
        "PostgreSQL refuses to run as root, and there is no user postgres or nobody:"
        f" {ADVICE}"
    )


def change_owner(folder: Path, uid: int, gid: int) -> None:
    """Give a folder and all in it to PostgreSQL's user, if this process is root's."""
    if os.geteuid() != 0:
        return
    try:
        os.chown(folder, uid, gid)
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.chown(Path(parent, name), uid, gid, follow_symlinks=False)
    except OSError as error:
        raise EmbeddedPostgresUnsupportedError(
            f"root may not give {folder} to user {uid}, as which PostgreSQL would"
            f" run: {ADVICE}"
        ) from error


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
