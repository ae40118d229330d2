"""INSTALLATION: the one row that says whose database this is (R50). Written once, by the first
service that leads; nobody of ours changes it."""

from typing import Final

from msgx.domain.failure import Unfit
from msgx.store.connect import Connection

_READ: Final = "SELECT environment FROM installation"
_CLAIM: Final = """
    INSERT INTO installation (environment, since) VALUES (%s, msgx_now())
        ON CONFLICT DO NOTHING
"""


def check(conn: Connection, environment: str) -> None:
    """Return if the database is nobody's yet, or that of `environment`.

    Raises:
        Unfit: it is another installation's.
    """
    row = conn.execute(_READ).fetchone()
    if row is not None and row[0] != environment:
        raise Unfit(
            "the database of MSGX_DATABASE__DSN belongs to another MSGX_ENVIRONMENT than this"
            " process"
        )


def claim(conn: Connection, environment: str) -> None:
    """Write whose database it is, if nobody has.

    Raises:
        Unfit: somebody else has.
    """
    conn.execute(_CLAIM, (environment,))
    check(conn, environment)
