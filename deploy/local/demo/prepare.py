"""Databases, accounts and topics of a fresh stack, as a real installation would have them."""

import secrets
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pymysql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deploy.local.ports import HOST
from deploy.local.stack import Endpoints
from msgx.store.migrate import migrate

DATABASE: Final = "msgx"
TABLES: Final = Path(__file__).parents[3] / "tests" / "support" / "mailbox.sql"
CREATE_DATABASE: Final = "CREATE DATABASE msgx"
# What each service may do to the mailbox ("Who may touch what").
GRANTS: Final = {
    "intake": ("SELECT, UPDATE (CMINMSGS_DATE_PROCESSED) ON {schema}.CMINMSGS",),
    "processor": ("SELECT ON {schema}.CMINMSGS",),
    "refdata": ("SELECT ON {schema}.CMINMSGS",),
    "dispatcher": ("SELECT, INSERT ON {schema}.COUTMSGS",),
    "api": ("SELECT, INSERT ON {schema}.CMINMSGS",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Where everything is: as its owner, and as each service sees it."""

    owner_dsn: str
    mailbox_url: str  # of the adapter, who owns it
    mailbox_urls: dict[str, str]
    redis_url: str
    kafka: str

    def dsn(self, service: str) -> str:
        """Return the database as the role of `service`."""
        return make_conninfo(self.owner_dsn, user=f"msgx_{service}")

    def database_url(self) -> str:
        """Return the database's URL, for people."""
        parts = conninfo_to_dict(self.owner_dsn)
        return f"postgresql://{parts['user']}@{parts['host']}:{parts['port']}/{parts['dbname']}"


def install(endpoints: Endpoints) -> Installation:
    """Make the database with its roles, and the mailbox with an account for each service."""
    with psycopg.connect(endpoints.postgres, autocommit=True) as admin:
        admin.execute(CREATE_DATABASE)
    owner = make_conninfo(endpoints.postgres, dbname=DATABASE)
    migrate(owner)
    return Installation(
        owner_dsn=owner,
        mailbox_url=endpoints.mysql,
        mailbox_urls=_mailbox(endpoints.mysql),
        redis_url=endpoints.redis,
        kafka=endpoints.kafka,
    )


def _mailbox(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    schema = parts.path.strip("/")
    accounts = {}
    with closing(_connect(url)) as connection, connection.cursor() as cursor:
        for statement in _statements():
            cursor.execute(statement)
        for service, grants in GRANTS.items():
            password = secrets.token_urlsafe(12)
            account = f"'msgx_{service}'@'{HOST}'"
            cursor.execute(f"CREATE USER {account} IDENTIFIED BY '{password}'")
            for grant in grants:
                cursor.execute(f"GRANT {grant.format(schema=schema)} TO {account}")
            netloc = f"msgx_{service}:{password}@{parts.hostname}:{parts.port}"
            accounts[service] = urlunsplit(parts._replace(netloc=netloc))
    return accounts


def _statements() -> list[str]:
    lines = TABLES.read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("--"))
    return [statement for statement in text.split(";") if statement.strip()]


def _connect(url: str) -> "pymysql.Connection[pymysql.cursors.Cursor]":
    parts = urlsplit(url)
    return pymysql.connect(
        host=parts.hostname or HOST,
        port=parts.port or 3306,
        user=parts.username,
        password=parts.password or "",
        database=parts.path.strip("/"),
        charset="utf8mb4",
        autocommit=True,
        connect_timeout=5,
        read_timeout=30,
        write_timeout=30,
    )


def unmarked(url: str) -> int:
    """Return how many mailbox rows have no mark yet."""
    with closing(_connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(COUNT_UNMARKED)
        row = cursor.fetchone()
    return int(row[0]) if row else 0


COUNT_UNMARKED: Final = "SELECT count(*) FROM CMINMSGS WHERE CMINMSGS_DATE_PROCESSED IS NULL"
