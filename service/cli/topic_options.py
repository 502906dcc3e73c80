"""What ``agent-runtime topic`` takes; what it does is in ``topic.py``."""

import argparse


def add_topic_commands(
    topic: argparse.ArgumentParser, settings: argparse.ArgumentParser
) -> None:
    commands = topic.add_subparsers(
        required=True, metavar="COMMAND", dest="topic_command"
    )
    commands.add_parser(
        "create", parents=[settings], help="create the topics that are missing"
    )
    commands.add_parser(
        "check",
        parents=[settings],
        help="hold the topics against the settings and the log; exits 1 if they differ",
    )
    tail = commands.add_parser(
        "tail", parents=[settings], help="print events as they are published, as JSON"
    )
    tail.add_argument(
        "--from-beginning", action="store_true", help="print those before, too"
    )
    tail.add_argument(
        "--count", type=int, default=0, help="stop after this many (default: never)"
    )
    republish = commands.add_parser(
        "republish",
        parents=[settings],
        help="publish the whole log to another topic, while the relay goes on",
        description="Publish the whole log to another topic, which is created with "
        "the partitions of --kafka-partitions. Stopped half-way, it goes on when it "
        "is started again.",
    )
    republish.add_argument("topic", help="the other topic")
