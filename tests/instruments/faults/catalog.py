"""Every fault of a long run, by name, and how often it is drawn."""

from tests.instruments.faults import kafka, network, postgres, processes
from tests.instruments.faults.run import Strike

ALWAYS: dict[Strike, int] = {
    postgres.killed: 12,
    postgres.backend_killed: 6,
    postgres.paused: 1,
    network.commits_lost: 3,
    network.commit_stalled: 1,
    network.half_open: 1,
    network.database_away: 1,
    processes.api_killed: 10,
    processes.api_paused: 1,
    processes.api_terminated: 1,
    processes.followers_killed: 6,
    processes.followers_paused: 1,
    processes.followers_replaced_while_paused: 1,
    processes.no_file_descriptors: 1,
    processes.rolling_restart: 1,
    processes.everything_killed: 1,
}
WITH_KAFKA: dict[Strike, int] = {
    processes.relay_killed: 5,
    processes.relay_paused: 1,
    processes.relay_replaced_while_paused: 1,
    kafka.broker_killed: 2,
    kafka.broker_paused: 1,
}


def faults(*, with_kafka: bool, only: str | None = None) -> dict[Strike, int]:
    """Return the faults to draw from, with their weights.

    :raises KeyError: there is no fault of that name
    """
    all_of_them = {**ALWAYS, **(WITH_KAFKA if with_kafka else {})}
    if only is None:
        return all_of_them
    named = {each.__name__: each for each in all_of_them}
    return {named[only]: 1}
