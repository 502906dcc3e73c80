"""Run the service without what it does by the clock, whatever the requests.

Under callgrind everything is slow, so there is more of it for each request. Tool calls
are recorded at longer intervals, in which as many calls end as otherwise. Used as
``python -m tests.instruments.bench.without_timers serve ...``.
"""

import sys
from unittest.mock import patch

from service.cli.main import main

NEVER_S = 86_400.0
# Ten times as long.
RECORDING_S = 1.0

if __name__ == "__main__":
    with (
        patch("projections.price_catalog.cache.STATE_TTL_S", NEVER_S),
        patch("service.http.loop_delay.INTERVAL_S", NEVER_S),
        patch("service.logs.FLUSH_INTERVAL_S", NEVER_S),
        patch("service.serve.POSTGRES_CHECK_INTERVAL_S", NEVER_S),
        patch("service.event_log.cache_tail.TAIL_POLL_S", NEVER_S),
        patch("service.event_log.durable.POLL_S", NEVER_S),
        patch("service.event_log.writer.EXPIRY_INTERVAL_S", NEVER_S),
        patch("service.gateway.approvals.expiry.INTERVAL_S", NEVER_S),
        patch("service.call_recording.recorder.INTERVAL_S", RECORDING_S),
    ):
        sys.exit(main())
