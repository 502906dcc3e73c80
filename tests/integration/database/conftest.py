from tests.support.postgres_proxy import proxy

__all__ = ["proxy"]
