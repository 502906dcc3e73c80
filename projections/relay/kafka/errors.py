"""What can go wrong with a topic, by what the relay should do about it."""


class PublishError(Exception):
    """This publisher is finished; a fresh one, after a pause, may succeed."""


class BrokerUnavailableError(PublishError):
    """No answer in time, or none that helps. What was sent may be committed."""


class FencedError(PublishError):
    """Another relay has taken over; nothing of this transaction will be seen."""


class RecordTooLargeError(PublishError):
    """A record doesn't fit, and won't in a second attempt; nothing was committed."""


class TopicRefusedError(Exception):
    """The topic isn't the one this log has been writing: a person must decide."""


class TopicMissingError(TopicRefusedError):
    """The topic or its position topic doesn't exist."""


class TopicSettingsError(TopicRefusedError):
    """The topic's settings would break a promise, such as order per aggregate."""


class TopicCutError(TopicRefusedError):
    """The topic has lost records that it held: cut, recreated or not replicated."""


class ForeignTopicError(TopicRefusedError):
    """Another log, or something that isn't a relay, writes to the topic."""


class LogEpochChangedError(TopicRefusedError):
    """The log was restored; its positions may mean other events than before."""


class CheckpointContradictedError(TopicRefusedError):
    """The log isn't the one that a checkpoint on the topic was signed for."""


class LogBehindTopicError(TopicRefusedError):
    """The topic holds positions that the log hasn't reached."""
