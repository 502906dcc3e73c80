"""Fail-over for real: three PostgreSQL servers under Patroni, with etcd."""
