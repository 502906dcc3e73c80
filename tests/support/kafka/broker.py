"""A real Kafka broker on loopback, started from its published jars."""

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.harness.process import Process, ProcessError, free_ports

READY_TIMEOUT_S = 110.0

# The quoted class path is expanded by the JVM; a shell's expansion isn't one.
JVM = [
    "java",
    "-Xms64m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
]

# One of everything, and a cleaner whose buffer fits the small heap: its default
# of 128 MiB would take half of it. A killed broker is let in again only when its
# old session has expired, by default after nine seconds.
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.cleaner.dedupe.buffer.size=2097152
num.network.threads=1
num.io.threads=2
background.threads=2
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
broker.session.timeout.ms=4000
broker.heartbeat.interval.ms=300
"""


class Broker(Process):
    """One broker process; ports and data stay the same over kill and restart."""

    def __init__(self, libs: Path, folder: Path) -> None:
        self._libs = libs
        self._properties = folder / "server.properties"
        port, controller_port = free_ports(2)
        self.bootstrap = f"127.0.0.1:{port}"
        self._properties.write_text(
            PROPERTIES.format(port=port, controller_port=controller_port, folder=folder)
        )
        super().__init__(
            [*self._java("kafka.Kafka"), str(self._properties)], folder / "broker.log"
        )

    def format(self) -> None:
        storage = "kafka.tools.StorageTool"
        cluster_id = self._run(storage, "random-uuid").split()[-1]
        self._run(storage, "format", "-t", cluster_id, "-c", str(self._properties))

    def start(self, *, stdout: int | None = None) -> None:
        super().start(stdout=stdout)
        self._wait_until_ready()

    async def start_aside(self) -> None:
        """Start without holding up the event loop.

        Launched on this thread all the same: the kernel would kill the broker when
        the thread that launched it ends.
        """
        super().start()
        await asyncio.to_thread(self._wait_until_ready)

    def revive(self) -> None:
        """Mend whatever a test did."""
        self.resume()
        if not self.is_running:
            self.start()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        # A fresh client each time: a refused one backs off for longer and longer.
        while not answers(self.bootstrap):
            if not self.is_running or time.monotonic() > deadline:
                self.kill()
                raise ProcessError(f"the broker didn't start:\n{self.log_tail()}")

    def _java(self, main_class: str) -> list[str]:
        return [*JVM, "-cp", f"{self._libs}/*", main_class]

    def _run(self, main_class: str, *arguments: str) -> str:
        command = [*self._java(main_class), *arguments]
        return subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout


def answers(bootstrap: str, *, timeout_s: float = 0.5) -> bool:
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}, logger=None)
    try:
        return bool(client.list_topics(timeout=timeout_s).brokers)
    except KafkaException:
        return False
