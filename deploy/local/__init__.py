"""The local stack: real servers as ordinary processes on loopback, in one folder, no Docker.

with running() as endpoints:
    ...  # endpoints.postgres, .mysql, .redis, .kafka
"""

from deploy.local.faults import CannotStart
from deploy.local.stack import ALL, Endpoints, Stack, opened, running

__all__ = ["ALL", "CannotStart", "Endpoints", "Stack", "opened", "running"]
