"""A disk for one service, of which only root can mount one."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

# No bytes are written for what is only reserved.
SIZE_BYTES: Final = 8_000_000_000


@contextmanager
def disk_of(folder: Path) -> Iterator[Path]:
    """Mount a file system of its own, whose image takes only what is written."""
    image = folder.with_suffix(".image")
    image.touch()
    with image.open("r+b") as file:
        file.truncate(SIZE_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
    folder.mkdir()
    subprocess.run(["mount", "-o", "loop", str(image), str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
