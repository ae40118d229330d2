"""Write docs/tables.md from the migrations: what each table is, and who may touch what.

A light reader of our own migrations, not of SQL: it knows CREATE TABLE, CONSTRAINT and GRANT in
the form they have there, and refuses a table that it has no words for.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx.domain.refdata import FORM
from tools.page import ROOT, notice, publish, table

PAGE = "docs/tables.md"
ROLES = ("intake", "processor", "refdata", "dispatcher", "api", "admin_api")
LETTERS = {"SELECT": "R", "INSERT": "I", "UPDATE": "U", "DELETE": "D", "USAGE": "use"}
_TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)\n\s*\)", re.DOTALL)
_GRANT = re.compile(r"GRANT ([^;]+?)\sON\s+(SEQUENCE |SCHEMA )?([\w,\s]+?)\sTO\s([\w,\s]+)")
_RIGHT = re.compile(r"([A-Z]+)(?: \(([^)]*)\))?")
_FLIGHTS = "one row a flight with its scalars and marks"
_DETAIL = "one row an element, in message order; replaced as a whole"
ABOUT: Mapping[str, tuple[str, str]] = {
    "schema_version": ("migrations", "which migration was applied, with its hash"),
    "installation": ("who leads first", "whose database this is: `msgx.environment` (R50)"),
    "service_term": (
        "all",
        "who leads: a growing number; each service writes its own row (R13)",
    ),
    "proc_state": (
        "intake, processor, refdata",
        "one row a mailbox row: state, identity, owed mark",
    ),
    "proc_attempt": ("processor, refdata", "one row a failed try: class and text (R05)"),
    "identity_ledger": ("processor", "which message bound an identity first (R02)"),
    "dead_letter": ("processor, refdata", "the raw text of DEAD messages only (R38)"),
    "unmapped_field": ("processor, refdata", "tags that no registry entry reads (R51)"),
    "flight_schd": ("processor", _FLIGHTS),
    **{
        f"flight_{tag}": ("processor", _DETAIL)
        for tag in ("gtdt", "ckdt", "cldt", "chdt", "psdt", "chot", "dely", "abtm")
    },
    "flight_route_point": ("processor", "ROUT and ERUT, one row a point"),
    "flight_srvt": ("processor", "occurrences as they came; written once (R47)"),
    "flight_vipf": ("processor", "occurrences as they came; written once (R47)"),
    "flight_journal": (
        "processor",
        "append-only: one entry a message and flight, and MAFL again after a cut (R12)",
    ),
    "flight_version_floor": ("processor", "what a physically deleted FLID leaves (R45)"),
    "schd_snap_log": ("processor", "one row a treatment of a day plan; decides nothing"),
    "msg_event": ("processor adds, dispatcher delivers", "the outbox (R28, R29)"),
    "event_id_seq": ("processor", "order of the outbox"),
    "req_track": (
        "api and dispatcher register, dispatcher sends, processor and refdata match and close",
        "one row a request to the AODB (R08, R34, R56)",
    ),
    "req_seqn_seq": ("dispatcher", "SEQN of what we send"),
    "service_control": ("each its rows", "parts of a service that an operator lets rest (R55)"),
    "admin_audit": ("each its rows", "every act of an operator, with the reason (R35, R55)"),
    "ref_master": ("refdata", "one row a record of reference data (INV-26)"),
    **{
        f"ref_{category.lower()}": ("view", f"reference data: {form.meaning}")
        for category, form in FORM.items()
    },
    "held_unit": ("view", "flights of which nothing leaves to a topic, and why (R29)"),
}


@dataclass(slots=True)
class Table:
    """A table as the migrations make it."""

    key: str
    rules: list[str] = field(default_factory=list)
    rights: dict[str, dict[str, list[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )


def pages() -> dict[str, str]:
    """Return the page."""
    tables = read()
    if unknown := tables.keys() - ABOUT.keys():
        raise SystemExit(f"ABOUT of tools/gen_tables.py has no words for {unknown}")
    text = (
        "# Tables and who may touch what\n\n"
        + notice("gen_tables")
        + (
            "Our PostgreSQL. A table has one owner: the service that writes it, through one"
            " module of `msgx/store`. Import contracts (pyproject.toml) and one role a service"
            " with the grants below enforce that. Services meet in these tables only. The"
            " mailbox's two tables are not ours: intake writes marks, the api lands rows, the"
            " processor reads.\n\n"
        )
    )
    text += table(
        ["table", "owner", "what it is", "key", "what the database itself refuses"],
        (
            [f"`{name}`", *ABOUT[name], one.key, "; ".join(one.rules)]
            for name, one in tables.items()
        ),
    )
    text += (
        "\n## Grants\n\nR select, I insert, U update, D delete; of the named columns only,"
        " where there are names. The role of a service is `msgx_<service>`. Row-level security"
        f" besides keeps a service to its own rows of {_guarded()}.\n"
    )
    for role in ROLES:
        text += f"\n### {role}\n\n" + table(
            ["table", "may"],
            (
                [f"`{name}`", _may(one.rights[role])]
                for name, one in tables.items()
                if role in one.rights
            ),
        )
    return {PAGE: text}


def _sql() -> str:
    """Return the chain, after the table that the chain's own module makes."""
    chain = sorted((ROOT / "migrations").glob("*.sql"))
    texts = (path.read_text("utf-8") for path in (ROOT / "msgx/store/migrate.py", *chain))
    return re.sub(r"--[^\n]*", "", "\n".join(texts))


def _guarded() -> str:
    names = re.findall(r"ALTER TABLE (\w+) ENABLE ROW LEVEL SECURITY", _sql())
    return ", ".join(f"`{name}`" for name in names)


def read() -> dict[str, Table]:
    """Return every table and sequence of the migrations, in order."""
    sql = _sql()
    tables = {name: _table(body) for name, body in _TABLE.findall(sql)}
    for name in re.findall(r"CREATE (?:SEQUENCE|VIEW) (\w+)", sql):
        tables[name] = Table(key="")
    for name, gone in re.findall(r"ALTER TABLE (\w+) DROP CONSTRAINT (\w+)", sql):
        rules = tables[name].rules
        rules[:] = [rule for rule in rules if _unnamed(name, rule) != gone]
    for rights, kind, names, roles in _GRANT.findall(sql):
        if kind == "SCHEMA ":
            continue
        for name in _words(names):
            for role in _words(roles):
                _add(tables[name].rights[role.removeprefix("msgx_")], rights)
    return tables


def _table(body: str) -> Table:
    whole = re.search(r"\n    PRIMARY KEY \(([^)]*)\)", body)
    own = re.search(r"(\w+)[^\n,]*PRIMARY KEY", body)
    found = Table(key=whole[1] if whole else own[1] if own else "")
    found.rules += [f"`{name}`" for name in re.findall(r"CONSTRAINT (\w+)", body)]
    found.rules += [
        f"unique ({columns})" for columns in re.findall(r"\n    UNIQUE \(([^)]*)\)", body)
    ]
    found.rules += [
        f"unique ({name})" for name in re.findall(r"\n    (\w+) [^\n,(]*\bUNIQUE", body)
    ]
    if "REFERENCES flight_schd" in body:
        found.rules.append("belongs to a flight")
    return found


def _unnamed(table: str, rule: str) -> str:
    """Return how PostgreSQL names a rule `unique (…)` that we did not name."""
    return "_".join([table, *re.findall(r"\w+", rule)[1:], "key"])


def _add(rights: dict[str, list[str]], granted: str) -> None:
    for right, columns in _RIGHT.findall(granted):
        rights[right] += _words(columns) if columns else []


def _may(rights: Mapping[str, list[str]]) -> str:
    return " ".join(_shown(rights))


def _shown(rights: Mapping[str, list[str]]) -> Iterator[str]:
    for right, letter in LETTERS.items():
        if right in rights:
            columns = f"({', '.join(rights[right])})" if rights[right] else ""
            yield letter + columns


def _words(listed: str) -> list[str]:
    return [word.strip() for word in listed.split(",") if word.strip()]


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
