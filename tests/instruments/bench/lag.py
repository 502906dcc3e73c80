"""How far the read tables are behind the log while it grows."""

import time
from bisect import bisect_left
from threading import Event, Thread
from types import TracebackType
from typing import Self

import psycopg

SAMPLE_S = 0.002
PLACES = "SELECT (SELECT position FROM events.head), min(position) FROM read.position"


class LagSampler:
    """Looks again and again where the log ends and what every follower has."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._over = Event()
        self._thread = Thread(target=self._sample)
        self._times: list[float] = []
        self._heads: list[int] = []
        self._followed: list[int] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _sample(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as db:
            while not self._over.wait(SAMPLE_S):
                row = db.execute(PLACES, prepare=True).fetchone()
                assert row is not None
                self._times.append(time.perf_counter())
                self._heads.append(row[0])
                self._followed.append(row[1])

    def wait_until_caught_up(self) -> None:
        """Begin anew once the followers have what was there before."""
        while not self._heads or self._followed[-1] < self._heads[-1]:
            time.sleep(SAMPLE_S)
        del self._times[:-1], self._heads[:-1], self._followed[:-1]

    def p99_ms(self) -> float:
        """Return the 99th percentile of the time until a head was reached."""
        lags = []
        for number, head in enumerate(self._heads):
            # How far the slowest of all has come never goes back.
            reached = bisect_left(self._followed, head, lo=number)
            if reached < len(self._followed):
                lags.append(self._times[reached] - self._times[number])
        lags.sort()
        return lags[int(len(lags) * 0.99)] * 1000
