"""Measure this service beside its peers: ``python -m tests.bench.peers``.

Each peer runs alone beside this service, and both get the same load in turn. Peers
that aren't here are installed first, each in an environment of its own; one that can't
be installed is left out, with the reason.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import closing

from tests.bench.peers import (
    contextforge_api,
    crud,
    library,
    litellm_proxy,
    phoenix,
)
from tests.bench.peers.comparison import HEAD, Peer, run
from tests.bench.stage import Size, set_up
from tests.harness.environment import MissingError

PEERS: Mapping[str, Peer] = {
    "crud": crud.compared,
    "eventsourcing": library.compared,
    "litellm": litellm_proxy.compared,
    "phoenix": phoenix.compared,
    "contextforge": contextforge_api.compared,
}
SIZE = Size(sessions=1_000, sample=0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.peers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="for each measure")
    parser.add_argument("--only", choices=PEERS, help="this peer alone")
    options = parser.parse_args()
    rows = []
    with set_up(SIZE) as stage:
        for name, peer in PEERS.items():
            if options.only not in (None, name):
                continue
            try:
                with closing(peer(stage)) as comparisons:
                    for compared in comparisons:
                        result = run(
                            compared, rounds=options.rounds, seconds=options.seconds
                        )
                        rows.append(result.row())
                        load = os.getloadavg()[0]
                        print(f"{rows[-1]} load {load:.0f}", file=sys.stderr)
            except MissingError as missing:
                print(f"not compared with {name}: {missing}", file=sys.stderr)
    print(HEAD, *rows, sep="\n")


if __name__ == "__main__":
    main()
