"""Who may touch what: the page, the catalogue, and what really happens when a role tries."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from msgx.store.migrate import FOLDER
from tests.support.servers import postgres

pytestmark = [pytest.mark.pg]

PAGE = FOLDER.parent / "docs" / "tables.md"
ROLES = ("intake", "processor", "refdata", "dispatcher", "api", "admin_api")
LETTERS = {"SELECT": "R", "INSERT": "I", "UPDATE": "U", "DELETE": "D"}

Rights = dict[tuple[str, str, str], frozenset[str]]
"""(role, table, letter) to the columns it is limited to; none: the whole table."""

TABLE_WIDE = """
    SELECT grantee, table_name, privilege_type FROM information_schema.role_table_grants
     WHERE table_schema = 'public' AND grantee LIKE 'msgx\\_%'
"""
BY_COLUMN = """
    SELECT grantee, table_name, privilege_type, array_agg(column_name::text)
      FROM information_schema.role_column_grants AS c
     WHERE table_schema = 'public' AND grantee LIKE 'msgx\\_%'
       AND NOT EXISTS (SELECT FROM information_schema.role_table_grants AS t
                        WHERE (t.grantee, t.table_schema, t.table_name, t.privilege_type)
                            = (c.grantee, c.table_schema, c.table_name, c.privilege_type))
     GROUP BY 1, 2, 3
"""


def promised() -> Rights:
    """What docs/tables.md says."""
    rights: Rights = {}
    text = PAGE.read_text("utf-8").split("## Grants", 1)[1]
    for role, part in re.findall(r"### (\w+)\n(.*?)(?=\n### |\Z)", text, re.DOTALL):
        for table, may in re.findall(r"^\| `(\w+)` \| (.*?) \|$", part, re.MULTILINE):
            for letter, columns in re.findall(r"\b([RIUD])\b(?:\(([^)]*)\))?", may):
                names = (
                    frozenset(columns.replace(" ", "").split(",")) if columns else frozenset()
                )
                rights[role, table, letter] = names
    return rights


def granted(pg: "psycopg.Connection[Any]") -> Rights:
    """What PostgreSQL says."""
    rights: Rights = {}
    for grantee, table, privilege in pg.execute(TABLE_WIDE).fetchall():
        role = grantee.removeprefix("msgx_")
        rights[role, table, LETTERS.get(privilege, privilege)] = frozenset()
    for grantee, table, privilege, columns in pg.execute(BY_COLUMN).fetchall():
        role = grantee.removeprefix("msgx_")
        rights[role, table, LETTERS.get(privilege, privilege)] = frozenset(columns)
    return rights


@pytest.fixture(scope="module")
def owner(postgres_url: str, pg_template: str) -> Iterator["psycopg.Connection[Any]"]:
    """The owner's connection to a migrated database with a row to try on."""
    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
    ):
        conn.execute(
            "INSERT INTO proc_state (msg_id, enqueued_at, updated_at) VALUES (1, now(), now())"
        )
        yield conn


def attempt(owner: "psycopg.Connection[Any]", role: str, statement: str) -> int:
    """Try a statement as a role, take it back, and return how many rows it touched."""
    with owner.transaction(force_rollback=True):
        owner.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(f"msgx_{role}")))
        return owner.execute(statement.encode()).rowcount


@pytest.mark.covers("CLM-6", "R50")
def test_the_page_and_the_catalogue_agree(owner: "psycopg.Connection[Any]") -> None:
    assert granted(owner) == promised()
    assert {role for role, _, _ in promised()} == set(ROLES)


@pytest.mark.covers("CLM-6")
def test_nothing_is_granted_to_everybody(owner: "psycopg.Connection[Any]") -> None:
    rows = owner.execute(
        "SELECT table_name FROM information_schema.role_table_grants"
        " WHERE grantee = 'PUBLIC' AND table_schema = 'public'"
    ).fetchall()

    assert rows == []


@pytest.mark.covers("CLM-6")
@pytest.mark.parametrize("role", ROLES)
def test_no_role_is_more_than_a_login(owner: "psycopg.Connection[Any]", role: str) -> None:
    row = owner.execute(
        "SELECT rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication"
        " FROM pg_roles WHERE rolname = %s",
        [f"msgx_{role}"],
    ).fetchone()

    assert row == (True, False, False, False, False, False)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        attempt(owner, role, "CREATE TABLE mine (id integer)")


FORBIDDEN = [
    ("intake", "UPDATE proc_state SET state = 'SUCCEEDED', finished_at = now()"),
    ("intake", "UPDATE proc_state SET attempts = 0"),
    ("intake", "SELECT 1 FROM flight_schd"),
    ("intake", "INSERT INTO msg_event (target) VALUES ('KAFKA:msg')"),
    ("intake", "DELETE FROM identity_ledger"),
    ("processor", "INSERT INTO proc_state (msg_id) VALUES (2)"),
    ("processor", "DELETE FROM proc_state"),
    ("processor", "UPDATE proc_state SET backfill_at = now()"),
    ("processor", "UPDATE proc_state SET msg_id = 2"),
    ("processor", "UPDATE flight_journal SET changes = '{}'"),
    ("processor", "DELETE FROM msg_event"),
    ("processor", "DELETE FROM proc_attempt"),
    ("processor", "INSERT INTO service_term VALUES ('mine')"),
    ("refdata", "SELECT 1 FROM flight_schd"),
    ("refdata", "UPDATE flight_schd SET stnd = NULL"),
    ("refdata", "UPDATE proc_state SET route = NULL"),
    ("refdata", "UPDATE proc_state SET identity_key = NULL"),
    ("refdata", "SELECT 1 FROM identity_ledger"),
    ("refdata", "DELETE FROM dead_letter"),
    *(
        (role, "INSERT INTO ref_master (rtype) VALUES ('AIRL')")
        for role in ROLES
        if role != "refdata"
    ),
    *((role, "DELETE FROM ref_master") for role in ROLES if role != "refdata"),
    ("dispatcher", "INSERT INTO msg_event (target) VALUES ('KAFKA:msg')"),
    ("dispatcher", "UPDATE msg_event SET payload = NULL"),
    ("dispatcher", "UPDATE msg_event SET released_at = now()"),
    ("dispatcher", "SELECT flno FROM flight_schd"),
    ("dispatcher", "UPDATE proc_state SET state = 'DEAD'"),
    ("api", "INSERT INTO proc_state (msg_id) VALUES (2)"),
    ("api", "UPDATE proc_state SET state = 'DEAD'"),
    ("api", "DELETE FROM msg_event"),
    ("api", "UPDATE flight_schd SET stnd = NULL"),
    ("api", "UPDATE req_track SET state = 'PENDING'"),
    ("api", "SELECT nextval('req_seqn_seq')"),
    ("processor", "INSERT INTO req_track (req_type) VALUES ('RQFD')"),
    ("processor", "UPDATE req_track SET out_id = 1"),
    ("refdata", "DELETE FROM req_track"),
    ("intake", "SELECT 1 FROM req_track"),
    ("admin_api", "SELECT 1 FROM proc_state"),
    ("admin_api", "SELECT 1 FROM dead_letter"),
    ("admin_api", "UPDATE flight_schd SET stnd = NULL"),
    *((role, "DELETE FROM service_term") for role in ROLES),
    *((role, "UPDATE schema_version SET number = 0") for role in ROLES),
    *((role, "TRUNCATE proc_state") for role in ROLES),
    *((role, "ALTER TABLE proc_state DISABLE TRIGGER ALL") for role in ROLES),
]


@pytest.mark.covers("CLM-6", "INV-7", "INV-8")
@pytest.mark.parametrize(("role", "statement"), FORBIDDEN)
def test_what_a_role_must_not_do_is_refused(
    owner: "psycopg.Connection[Any]", role: str, statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        attempt(owner, role, statement)


ALLOWED = [
    ("intake", "UPDATE proc_state SET backfill_attempts = 1", 1),
    ("intake", "DELETE FROM proc_state", 1),
    ("processor", "UPDATE proc_state SET state = 'FAILED', attempts = 1", 1),
    ("processor", "SELECT nextval('event_id_seq')", 1),
    ("refdata", "UPDATE proc_state SET state = 'FAILED', attempts = 1", 1),
    ("refdata", "DELETE FROM ref_master", 0),
    ("dispatcher", "UPDATE msg_event SET state = 'PENDING'", 0),
    ("dispatcher", "SELECT flid, state, state_version FROM flight_schd", 0),
    ("dispatcher", "SELECT nextval('req_seqn_seq')", 1),
    ("dispatcher", "DELETE FROM req_track", 0),
    ("processor", "UPDATE req_track SET matched_msg_id = 1", 0),
    ("refdata", "UPDATE req_track SET closed_at = now()", 0),
    ("api", "SELECT * FROM proc_state", 1),
    ("admin_api", "SELECT * FROM flight_route_point", 0),
    ("admin_api", "SELECT * FROM ref_master", 0),
    ("admin_api", "SELECT availability('GATE', '7', now())", 1),
]


@pytest.mark.covers("CLM-6")
@pytest.mark.parametrize(("role", "statement", "rows"), ALLOWED)
def test_what_a_role_is_for_is_allowed(
    owner: "psycopg.Connection[Any]", role: str, statement: str, rows: int
) -> None:
    assert attempt(owner, role, statement) == rows


@pytest.mark.covers("R13", "CLM-6")
@pytest.mark.parametrize("role", ["intake", "processor", "refdata", "dispatcher", "api"])
def test_a_service_begins_terms_of_its_own_only(
    owner: "psycopg.Connection[Any]", role: str
) -> None:
    touched = attempt(owner, role, "UPDATE service_term SET term = term + 1")
    own = attempt(
        owner, role, f"UPDATE service_term SET term = term + 1 WHERE service = '{role}'"
    )
    shared = attempt(owner, role, "SELECT service FROM service_term FOR SHARE")

    assert (touched, own, shared) == (1, 1, 1)
    assert attempt(owner, role, "SELECT service FROM service_term") == 5
