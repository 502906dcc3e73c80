"""librdkafka's mock cluster: a broker's protocol, without what a broker guarantees.

It fences nobody, hides no aborted transaction and checks no offset, so it proves
nothing of what consumers are promised. It shows that the client speaks the protocol,
on machines that have no Java.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import confluent_kafka

PRODUCER = 0
ERROR_BYTES = 512


class MockCluster:
    def __init__(self, library: ctypes.CDLL, cluster: ctypes.c_void_p) -> None:
        self._library = library
        self._cluster = cluster
        self.bootstrap: str = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()

    def create_topic(self, topic: str, partitions: int) -> None:
        failed = self._library.rd_kafka_mock_topic_create(
            self._cluster, topic.encode(), partitions, 1
        )
        assert not failed

    def fail_produce(self, *codes: int) -> None:
        """Answer the next produce requests with these errors."""
        array = (ctypes.c_int * len(codes))(*codes)
        self._library.rd_kafka_mock_push_request_errors_array(
            self._cluster, 0, len(codes), array
        )


@contextmanager
def mock_cluster() -> Iterator[MockCluster]:
    library = _library()
    words = ctypes.create_string_buffer(ERROR_BYTES)
    client = library.rd_kafka_new(
        PRODUCER, library.rd_kafka_conf_new(), words, ERROR_BYTES
    )
    assert client, words.value
    client = ctypes.c_void_p(client)
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, 1))
    try:
        yield MockCluster(library, cluster)
    finally:
        library.rd_kafka_mock_cluster_destroy(cluster)
        library.rd_kafka_destroy(client)


def _library() -> ctypes.CDLL:
    """Load the librdkafka that comes with confluent-kafka."""
    folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    [file] = folder.glob("librdkafka*.so*")
    library = ctypes.CDLL(str(file))
    for name in ("conf_new", "new", "mock_cluster_new"):
        getattr(library, f"rd_kafka_{name}").restype = ctypes.c_void_p
    library.rd_kafka_conf_new.argtypes = []
    library.rd_kafka_new.argtypes = [
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.rd_kafka_mock_cluster_new.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    library.rd_kafka_mock_cluster_bootstraps.argtypes = [ctypes.c_void_p]
    library.rd_kafka_mock_topic_create.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_int,
    ]
    library.rd_kafka_mock_push_request_errors_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int16,
        ctypes.c_size_t,
        ctypes.c_void_p,
    ]
    library.rd_kafka_mock_cluster_destroy.argtypes = [ctypes.c_void_p]
    library.rd_kafka_destroy.argtypes = [ctypes.c_void_p]
    return library
