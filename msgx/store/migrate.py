"""SCHEMA_VERSION and the migrations: plain SQL, forward only, recorded with a hash.

`python -m msgx.store.migrate` applies them; MSGX_MIGRATE__DSN names the owner's connection.
"""

import argparse
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg

from msgx.domain.failure import clean
from msgx.store.connect import Connection

FOLDER: Final = Path(__file__).parents[2] / "migrations"
_NAME: Final = re.compile(r"(\d{4})_(pre|post)_[a-z0-9_]+\.sql")
_LOCK: Final = 0x6D736779

_CREATE: Final = """
    CREATE TABLE IF NOT EXISTS schema_version (
        number     integer PRIMARY KEY,
        name       text        NOT NULL,
        sha256     text        NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    )
"""
_BOUNDS: Final = "SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '60s'"
_SERIALISE: Final = "SELECT pg_advisory_xact_lock(%s)"
_APPLIED: Final = "SELECT number, name, sha256 FROM schema_version ORDER BY number"
_RECORD: Final = "INSERT INTO schema_version (number, name, sha256) VALUES (%s, %s, %s)"
_NEWEST: Final = "SELECT max(number) FROM schema_version"


class MigrationRefused(RuntimeError):
    """The chain cannot be applied; the text says why."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of the chain."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """Return the hash that `schema_version` keeps."""
        return hashlib.sha256(self.sql.encode()).hexdigest()

    @property
    def phase(self) -> str:
        """Return `pre` (before the new services start) or `post` (after the last old one
        stopped)."""
        return self.name.split("_")[1]


def chain(folder: Path = FOLDER) -> list[Migration]:
    """Return the migrations in order.

    Raises:
        MigrationRefused: a name does not follow the form, or the numbers have a gap or a
        double.
    """
    found = []
    for path in sorted(folder.glob("*.sql")):
        match = _NAME.fullmatch(path.name)
        if match is None:
            raise MigrationRefused(f"{path.name} is not named NNNN_pre|post_subject.sql")
        found.append(Migration(int(match[1]), path.name, path.read_text(encoding="utf-8")))
    if [one.number for one in found] != list(range(1, len(found) + 1)):
        raise MigrationRefused(
            "the numbers of the migrations must run from 0001 without gap or double"
        )
    return found


def migrate(
    dsn: str,
    *,
    phases: Sequence[str] = ("pre", "post"),
    migrations: Sequence[Migration] | None = None,
) -> list[str]:
    """Apply what is missing, each in one transaction, and return the names applied.

    Raises:
        MigrationRefused: an applied file was edited, or the database is newer than this code.
        psycopg.Error: PostgreSQL refused a statement; everything before it stays applied.
    """
    migrations = chain() if migrations is None else migrations
    applied = []
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as conn:
        with conn.transaction():
            conn.execute(_SERIALISE, (_LOCK,))
            conn.execute(_CREATE)
        for migration in migrations:
            with conn.transaction():
                conn.execute(_BOUNDS)
                conn.execute(_SERIALISE, (_LOCK,))
                if migration.number in _checked(conn, migrations):
                    continue
                if migration.phase not in phases:
                    break
                conn.execute(migration.sql.encode())
                conn.execute(_RECORD, (migration.number, migration.name, migration.sha256))
            applied.append(migration.name)
    return applied


def _checked(conn: Connection, migrations: Sequence[Migration]) -> set[int]:
    known = {one.number: one for one in migrations}
    numbers = set()
    for number, name, sha256 in conn.execute(_APPLIED).fetchall():
        if number not in known:
            raise MigrationRefused(
                f"the database already has {name}, which this version does not know"
            )
        if known[int(str(number))].sha256 != sha256:
            raise MigrationRefused(
                f"{name} was edited after it was applied; add a new migration instead"
            )
        numbers.add(int(str(number)))
    return numbers


def needed() -> int:
    """Return the migration that this code cannot do without."""
    return max(one.number for one in chain() if one.phase == "pre")


def current(conn: Connection) -> int:
    """Return the newest migration of the database; 0: it has none."""
    try:
        row = conn.execute(_NEWEST).fetchone()
    except psycopg.errors.UndefinedTable:
        row = None
    return 0 if row is None or row[0] is None else int(str(row[0]))


def check_version(conn: Connection) -> None:
    """Refuse to run on a database that lacks a `pre` migration of this code.

    Raises:
        MigrationRefused: what is missing and what to run.
    """
    have, wanted = current(conn), needed()
    if have < wanted:
        raise MigrationRefused(
            f"the database has schema version {have}, this service needs {wanted}: "
            "run python -m msgx.store.migrate first"
        )


def _explained(error: psycopg.Error) -> str:
    """Return why it was refused: in the server's words, never in libpq's, which repeat the
    DSN."""
    if error.sqlstate is not None:
        return (
            f"PostgreSQL refuses: {clean(error.diag.message_primary or '')} ({error.sqlstate})"
        )
    if isinstance(error, psycopg.ProgrammingError):
        return "MSGX_MIGRATE__DSN must be a connection string of libpq"
    return "PostgreSQL of MSGX_MIGRATE__DSN does not accept our connection"


def main() -> int:
    """Apply the migrations to the database of MSGX_MIGRATE__DSN."""
    parser = argparse.ArgumentParser(
        prog="python -m msgx.store.migrate", description=main.__doc__
    )
    parser.add_argument("--phase", choices=("pre", "post", "all"), default="all")
    phase = parser.parse_args().phase
    dsn = os.environ.get("MSGX_MIGRATE__DSN")
    if not dsn:
        raise SystemExit(
            "MSGX_MIGRATE__DSN is not set: give the connection of the database's owner"
        )
    try:
        applied = migrate(dsn, phases=("pre", "post") if phase == "all" else (phase,))
    except MigrationRefused as refusal:
        raise SystemExit(str(refusal)) from None
    except psycopg.Error as error:
        raise SystemExit(_explained(error)) from None
    print("\n".join(f"applied {name}" for name in applied) or "nothing to apply")  # noqa: T201
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
