"""The chain of migrations: applied once, in order, never edited, never guessed."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from msgx.runtime.leadership import Leadership, Standby
from msgx.store.migrate import (
    FOLDER,
    Migration,
    MigrationRefused,
    chain,
    check_version,
    migrate,
)
from msgx.store.service_term import Service
from tests.support import patient
from tests.support.process import Process, running
from tests.support.waiting import until

pytestmark = [pytest.mark.pg]

TABLE = Migration(1, "0001_pre_table.sql", "CREATE TABLE a (id integer)")
COLUMN = Migration(2, "0002_pre_column.sql", "ALTER TABLE a ADD b text")
CLEANUP = Migration(3, "0003_post_cleanup.sql", "ALTER TABLE a DROP b")
LATER = Migration(4, "0004_pre_later.sql", "CREATE TABLE later (id integer)")
SMALL = [TABLE, COLUMN, CLEANUP, LATER]


def applied(dsn: str) -> list[int]:
    with psycopg.connect(dsn) as conn:
        rows = conn.execute("SELECT number FROM schema_version ORDER BY number").fetchall()
    return [number for (number,) in rows]


def columns(dsn: str) -> set[str]:
    with psycopg.connect(dsn) as conn:
        rows = conn.execute(
            "SELECT table_name || '.' || column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name IN ('a', 'later')"
        ).fetchall()
    return {name for (name,) in rows}


@pytest.mark.covers("OPS-4")
def test_the_whole_chain_applies_once_to_an_empty_database(empty_pg_dsn: str) -> None:
    names = sorted(path.name for path in FOLDER.glob("*.sql"))

    assert migrate(empty_pg_dsn) == names
    assert migrate(empty_pg_dsn) == []

    assert applied(empty_pg_dsn) == list(range(1, len(names) + 1))


@pytest.mark.covers("OPS-4")
def test_two_migrators_at_once_apply_everything_once(empty_pg_dsn: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: migrate(empty_pg_dsn, migrations=SMALL), range(2)))

    assert sorted(name for run in runs for name in run) == [one.name for one in SMALL]


@pytest.mark.covers("OPS-4")
def test_an_edited_migration_is_refused_and_named(empty_pg_dsn: str) -> None:
    migrate(empty_pg_dsn, migrations=SMALL[:2])
    edited = Migration(1, TABLE.name, TABLE.sql + " -- harmless")

    with pytest.raises(MigrationRefused, match=r"0001_pre_table\.sql was edited"):
        migrate(empty_pg_dsn, migrations=[edited, *SMALL[1:]])

    assert applied(empty_pg_dsn) == [1, 2]


@pytest.mark.covers("OPS-4")
def test_a_database_that_is_newer_than_the_code_is_refused(empty_pg_dsn: str) -> None:
    migrate(empty_pg_dsn, migrations=SMALL[:2])

    with pytest.raises(MigrationRefused, match=r"0002_pre_column\.sql, which this version"):
        migrate(empty_pg_dsn, migrations=SMALL[:1])


@pytest.mark.covers("OPS-4")
@pytest.mark.parametrize(
    "names",
    [
        ("0001_pre_a.sql", "0003_pre_c.sql"),
        ("0002_pre_b.sql",),
        ("0001_pre_a.sql", "0001_post_b.sql"),
        ("0001_pre_a.sql", "2_pre_b.sql"),
        ("0001_mid_a.sql",),
    ],
)
def test_a_gap_a_double_or_a_wrong_name_is_refused(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1", encoding="utf-8")

    with pytest.raises(MigrationRefused):
        chain(tmp_path)


@pytest.mark.covers("OPS-4")
def test_pre_stops_before_the_first_post_and_post_goes_on(empty_pg_dsn: str) -> None:
    before = migrate(empty_pg_dsn, phases=["pre"], migrations=SMALL)
    assert before == [TABLE.name, COLUMN.name]
    assert columns(empty_pg_dsn) == {"a.id", "a.b"}

    after = migrate(empty_pg_dsn, phases=["post"], migrations=SMALL)

    assert after == [CLEANUP.name], "the later pre waits for its turn"
    assert migrate(empty_pg_dsn, phases=["pre"], migrations=SMALL) == [LATER.name]
    assert columns(empty_pg_dsn) == {"a.id", "later.id"}


@pytest.mark.covers("OPS-4")
def test_post_alone_never_runs_before_what_precedes_it(empty_pg_dsn: str) -> None:
    assert migrate(empty_pg_dsn, phases=["post"], migrations=SMALL) == []


@pytest.mark.covers("OPS-4")
def test_a_migration_that_fails_leaves_nothing_of_itself(empty_pg_dsn: str) -> None:
    broken = Migration(2, "0002_pre_broken.sql", "CREATE TABLE later (id integer); SELECT 1/0")

    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(empty_pg_dsn, migrations=[TABLE, broken])

    assert applied(empty_pg_dsn) == [1]
    assert columns(empty_pg_dsn) == {"a.id"}
    assert migrate(empty_pg_dsn, migrations=SMALL[:2]) == [COLUMN.name]


@pytest.mark.covers("OPS-4")
def test_code_runs_on_a_schema_that_is_newer_but_not_on_an_older_one(pg_dsn: str) -> None:
    with psycopg.connect(pg_dsn, autocommit=True) as conn:
        conn.execute("INSERT INTO schema_version VALUES (9999, '9999_pre_new.sql', '')")
        check_version(conn)
        conn.execute("DELETE FROM schema_version WHERE number > 1")

        with pytest.raises(MigrationRefused, match=r"run python -m msgx\.store\.migrate"):
            check_version(conn)


@pytest.mark.covers("OPS-4")
def test_a_service_never_leads_on_a_schema_that_is_too_old(empty_pg_dsn: str) -> None:
    leadership = Leadership(
        patient.database(empty_pg_dsn),
        patient.LEADERSHIP,
        Service.PROCESSOR,
        environment="test",
    )

    for _ in range(3):
        with pytest.raises(Standby, match="schema version 0, this service needs"):
            leadership.hold()

    assert leadership.term is None
    migrate(empty_pg_dsn)
    leadership.hold()
    assert leadership.require() == 1
    leadership.lose()


def waits(process: Process) -> list[dict[str, Any]]:
    """Return what the pump said that it waits for."""
    return [one for one in process.logged("waits") if one["loop"] == "pump"]


@pytest.mark.covers("OPS-4")
@pytest.mark.system
def test_a_process_says_in_one_sentence_that_the_schema_is_too_old(empty_pg_dsn: str) -> None:
    nowhere = {
        "MSGX_MAILBOX__URL": "mysql://nobody@127.0.0.1:9/none",
        "MSGX_REDIS__URL": "redis://127.0.0.1:9/0",
    }
    told = "run python -m msgx.store.migrate first"
    with running("processor", MSGX_DATABASE__DSN=empty_pg_dsn, **nowhere) as process:
        until(lambda: any(told in one["reason"] for one in waits(process)), "it says why")

        process.wait_for_health("NOT_SERVING", "pump")
        assert process.terminate() == 0
        assert len(waits(process)) == 1
        assert not process.logged("loop fault")


@pytest.mark.covers("OPS-4")
def test_the_command_applies_the_chain_and_says_what_it_did(empty_pg_dsn: str) -> None:
    def run(dsn: str | None) -> "subprocess.CompletedProcess[str]":
        ours = {name: text for name, text in os.environ.items() if "MSGX_" not in name}
        return subprocess.run(
            [sys.executable, "-m", "msgx.store.migrate"],
            cwd=FOLDER.parent,
            env=ours | ({} if dsn is None else {"MSGX_MIGRATE__DSN": dsn}),
            capture_output=True,
            text=True,
            check=False,
        )

    first, second, without = run(empty_pg_dsn), run(empty_pg_dsn), run(None)
    away = run("postgresql://nobody:secret-word@127.0.0.1:9/none")
    unread = run("host=127.0.0.1 secret-word")
    denied = run(make_conninfo(empty_pg_dsn, user="msgx_api"))

    assert first.stdout.splitlines() == [f"applied {one.name}" for one in chain()]
    assert second.stdout == "nothing to apply\n"
    assert first.returncode == second.returncode == 0
    assert without.returncode == away.returncode == 1
    assert "MSGX_MIGRATE__DSN" in without.stderr
    assert len(away.stderr.splitlines()) == 1
    assert "secret-word" not in away.stderr + unread.stderr
    assert unread.stderr == "MSGX_MIGRATE__DSN must be a connection string of libpq\n"
    assert denied.stderr == "PostgreSQL refuses: permission denied for schema public (42501)\n"
    assert unread.returncode == denied.returncode == 1
