"""Kafka as the relay sees it: the only package that imports aiokafka."""
