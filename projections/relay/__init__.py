"""The relay: the log, copied to Kafka in order and exactly once."""
