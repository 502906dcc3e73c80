"""A pseudo-terminal for processes, and what they show on it."""

import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

ROWS, COLUMNS = 24, 80
READ_BYTES = 65536


class Terminal:
    """The file descriptor ``device`` is the standard streams of a process."""

    def __init__(self, device: int, screen: int) -> None:
        self.device = device
        self._screen = screen
        self._shown = bytearray()

    @property
    def shown(self) -> str:
        """Everything that was shown up to now, with plain line ends."""
        return self._shown.decode(errors="replace").replace("\r\n", "\n")

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def read(self) -> None:
        # Linux reports the end as an error.
        with suppress(OSError):
            while read := os.read(self._screen, READ_BYTES):
                self._shown += read


@contextmanager
def open_terminal() -> Iterator[Terminal]:
    """Open one; every process on it has to end before the block does."""
    screen, device = os.openpty()
    termios.tcsetwinsize(device, (ROWS, COLUMNS))
    terminal = Terminal(device, screen)
    reader = Thread(target=terminal.read)
    reader.start()
    try:
        yield terminal
    finally:
        os.close(device)
        reader.join()
        os.close(screen)
