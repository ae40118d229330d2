"""What the processor reads."""

from typing import Final

from msgx.record_settings import RecordSettings
from msgx.settings import (
    Airport,
    Audit,
    Flop,
    Mailbox,
    Pipeline,
    Projection,
    Redis,
    Request,
    Schd,
    ServiceSettings,
)


class ProcessorSettings(RecordSettings):
    """The parameters of the processor."""

    mailbox: Mailbox
    redis: Redis
    airport: Airport = Airport()
    pipeline: Pipeline = Pipeline()
    audit: Audit = Audit()
    flop: Flop = Flop()
    schd: Schd = Schd()
    projection: Projection = Projection()
    request: Request = Request()


class VerifySettings(ServiceSettings):
    """What `verify` needs; without a Redis it is not asked."""

    redis: Redis | None = None
    airport: Airport = Airport()
    pipeline: Pipeline = Pipeline()


SETTINGS: Final = ProcessorSettings
