"""A client's knowledge of the log: its epoch, and the position of the last write."""

from threading import Lock

from agent_runtime_client.response import Response


class LogMemory:
    """Shared by a client and its copies, also between threads.

    Every request sends the epoch, so that the service refuses it if the log was
    restored meanwhile: positions and versions then mean something else.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self.epoch: str | None = None
        self.position = 0

    def learn(self, response: Response, *, is_command: bool) -> None:
        """Take the epoch of an answer, and the position of a command."""
        epoch = response.epoch
        if epoch is None:
            return
        with self._lock:
            if self.epoch is None:
                self.epoch = epoch
            if is_command and epoch == self.epoch and response.position is not None:
                self.position = max(self.position, response.position)

    def forget(self, epoch: str | None) -> None:
        """Begin anew with another epoch, after the log was restored."""
        with self._lock:
            self.epoch = epoch
            self.position = 0
