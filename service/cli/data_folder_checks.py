"""Checks of the data folder: who can read it, and the first token in it."""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from projections.audit.proofs.signing_key import SIGNING_KEY_FILE
from service.cli.check import Check
from service.users.tokens import ADMIN_TOKEN_FILE

ROOT_USER: Final = 0
PRIVATE_FILES: Final = ("keys*.json", SIGNING_KEY_FILE, "*-token")
FIRST_TOKEN_DAYS: Final = 1


def check_data_folder(data_dir: Path, now: datetime) -> list[Check]:
    return [_data_folder(data_dir), _first_token(data_dir, now)]


def _data_folder(data_dir: Path) -> Check:
    name, status = "data folder is private", data_dir.stat()
    if not _is_open(status):
        return Check(name)
    if os.geteuid() in {status.st_uid, ROOT_USER}:
        mode = stat.S_IMODE(status.st_mode)
        return Check(name, f"its mode is {mode:04o}; run chmod 700 on it")
    advice = f"as root run chown {os.geteuid()} and chmod 700 on it"
    if status.st_uid != ROOT_USER:
        user = f"user {status.st_uid}, who can replace the files in it"
        return Check(name, f"it belongs to {user}; {advice}")
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        problem = "everybody who reaches it can replace the files in it"
        unless = "(a pod's own emptyDir may stay so)"
        return Check(name, f"{problem}; {advice} {unless}")
    # A volume's, as Kubernetes mounts it: the service can change only what is in it.
    files = sorted(file for each in PRIVATE_FILES for file in data_dir.glob(each))
    for file in files:
        if _is_open(file.stat()):
            return Check(name, f"{file.name} is open to others; run chmod 600 on it")
    return Check(name)


def _is_open(status: os.stat_result) -> bool:
    return bool(status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _first_token(data_dir: Path, now: datetime) -> Check:
    """Warn from the next day on: before, a new installation needs it."""
    name = f"the first token of admin is replaced within {FIRST_TOKEN_DAYS} day"
    try:
        written_at = (data_dir / ADMIN_TOKEN_FILE).stat().st_mtime
    except FileNotFoundError:
        return Check(name)
    if now - datetime.fromtimestamp(written_at, UTC) < timedelta(days=FIRST_TOKEN_DAYS):
        return Check(name)
    problem = (
        f"{ADMIN_TOKEN_FILE} still exists; issue tokens to people, revoke this one and "
        "delete the file"
    )
    return Check(name, problem, warns=True)
