"""What refdata reads (R37)."""

from typing import Final

from msgx.settings import (
    Airport,
    Dead,
    Mailbox,
    Pipeline,
    Reference,
    Request,
    ServiceSettings,
)


class RefdataSettings(ServiceSettings):
    """The parameters of refdata."""

    mailbox: Mailbox
    airport: Airport = Airport()
    pipeline: Pipeline = Pipeline()
    dead: Dead = Dead()
    reference: Reference = Reference()
    request: Request = Request()


SETTINGS: Final = RefdataSettings
