"""Databases for tests: a template, migrated once a session, and a copy for each test."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.support.waiting import until

MIGRATING = 7_316_001  # advisory key: roles belong to the cluster, so sessions migrate in turn


@contextmanager
def template(server: str) -> Iterator[str]:
    """Make a migrated database, yield its name, and drop it at the end."""
    from msgx.store.migrate import migrate

    with database(server) as dsn:
        with psycopg.connect(server, autocommit=True) as turn:
            turn.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
            migrate(dsn)
        yield str(conninfo_to_dict(dsn)["dbname"])


@contextmanager
def database(server: str, *, copy_of: str = "template0") -> Iterator[str]:
    """Make a database, yield its connection string, and drop it at the end."""
    name = f"msgx_test_{secrets.token_hex(6)}"
    names = {"name": sql.Identifier(name), "copied": sql.Identifier(copy_of)}
    create = sql.SQL("CREATE DATABASE {name} TEMPLATE {copied}").format(**names)
    drop = sql.SQL("DROP DATABASE IF EXISTS {name} WITH (FORCE)").format(**names)
    with psycopg.connect(server, autocommit=True) as admin:
        until(partial(_done, admin, create), "no session is in the copied database")
    try:
        yield make_conninfo(server, dbname=name)
    finally:
        with psycopg.connect(server, autocommit=True) as admin:
            until(partial(_done, admin, drop), "no session is in the database")


def _done(admin: "psycopg.Connection[Any]", statement: sql.Composed) -> bool:
    """Execute, unless sessions that were closed or ended are still there."""
    try:
        admin.execute(statement)
    except psycopg.errors.ObjectInUse:
        return False
    return True
