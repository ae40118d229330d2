"""Print the views of reference data as the registry has them now: the text of a new migration.

    .venv/bin/python tools/ref_views.py > migrations/NNNN_pre_reference_views.sql

Landed migrations are never edited: a view that the chain makes already as the registry has it
is left out, so a change of the registry is a migration with the views that it concerns. A test
says when one is due.
"""

import re
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx.domain.refdata import Category, RefField, Shape, fields_of
from tools.page import ROOT

_KEPT: Final = ("source_msg_id", "batch", "refreshed_at")
_READERS: Final = "msgx_api, msgx_admin_api"


def name(category: Category) -> str:
    """Return the name of a category's view."""
    return f"ref_{category.lower()}"


def column(field: RefField) -> str:
    """Return the name of a field's column; instants end in _at."""
    return field.tag.lower() + ("_at" if field.shape is Shape.TIME else "")


def view(category: Category) -> str:
    """Return the statement that makes the view."""
    columns = ["rkey"]
    columns += [f"{_value(field)} AS {column(field)}" for field in fields_of(category).values()]
    return (
        f"CREATE VIEW {name(category)} AS\nSELECT "
        + ",\n       ".join([*columns, ", ".join(_KEPT)])
        + f"\n  FROM ref_master WHERE rtype = '{category}';\n"
    )


def due() -> list[Category]:
    """Return the categories whose view the chain does not make as the registry has it."""
    made: dict[str, str] = {}
    for path in sorted((ROOT / "migrations").glob("*.sql")):
        for text in re.findall(r"CREATE VIEW ref_.*?;\n", path.read_text("utf-8"), re.DOTALL):
            made[text.split()[2]] = text
    return [one for one in Category if made.get(name(one)) != view(one)]


def migration(categories: list[Category]) -> str:
    """Return the text of a migration that makes the views of `categories` anew."""
    text = "-- Reference data by category, with typed columns: written by tools/ref_views.py.\n"
    for one in categories:
        text += f"\nDROP VIEW IF EXISTS {name(one)};\n{view(one)}"
    names = ", ".join(name(one) for one in categories)
    return f"{text}\nGRANT SELECT ON {names}\n    TO {_READERS};\n"


def _value(field: RefField) -> str:
    match field.shape:
        case Shape.TEXT:
            return f"payload ->> '{field.tag}'"
        case Shape.TIME:
            return f"(payload ->> '{field.tag}')::timestamptz"
        case Shape.LIST | Shape.RECORDS:
            return f"nullif(payload -> '{field.tag}', 'null')"


if __name__ == "__main__":
    if categories := due():
        sys.stdout.write(migration(categories))
    else:
        print("Every view is as the registry has it.", file=sys.stderr)
