"""A long prompt holds up nobody else."""

import time

from service.model_gateway.protocol.body import (
    BYTES_OF_TOKEN,
    TOKENS_OF_BLOB,
    estimated_tokens,
)


def test_tokens_are_counted_in_proportion_to_the_prompt() -> None:
    # Each run is just too short for an image.
    runs = (b"a" * 1023 + b" ") * 4096
    began = time.process_time()

    tokens = estimated_tokens(runs + b"a" * 1024)

    # With all that follows looked at for each byte, it took 3 s.
    assert time.process_time() - began < 1
    assert tokens == len(runs) // BYTES_OF_TOKEN + TOKENS_OF_BLOB
