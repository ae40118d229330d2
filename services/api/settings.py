"""What the api reads from the environment."""

from typing import Final

from msgx.settings import Airport, Http, Mailbox, Redis, Request, StoreSettings


class ApiSettings(StoreSettings):
    """The parameters of the api; it leads nothing."""

    mailbox: Mailbox
    redis: Redis
    airport: Airport = Airport()
    request: Request = Request()
    http: Http = Http()


SETTINGS: Final = ApiSettings
