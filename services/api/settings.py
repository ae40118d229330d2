"""What the api reads from the environment."""

from msgx.settings import Http, Mailbox, ProcessSettings, Redis


class ApiSettings(ProcessSettings):
    """The api reads no PostgreSQL yet, so it asks for none."""

    mailbox: Mailbox
    redis: Redis
    http: Http = Http()
