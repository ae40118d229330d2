"""What the api reads from the environment."""

from msgx.settings import Airport, Database, Http, Mailbox, ProcessSettings, Redis, Request


class ApiSettings(ProcessSettings):
    """The parameters of the api; it leads nothing."""

    database: Database
    mailbox: Mailbox
    redis: Redis
    airport: Airport = Airport()
    request: Request = Request()
    http: Http = Http()
