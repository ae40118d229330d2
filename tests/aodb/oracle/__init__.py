"""An independent reading of the interface: how each message ends, and the flights after it."""

from tests.aodb.oracle.flights import Oracle

__all__ = ["Oracle"]
