"""An independent reading of the interface: what each message must end as, and the flights after it."""

from tests.aodb.oracle.flights import Oracle

__all__ = ["Oracle"]
