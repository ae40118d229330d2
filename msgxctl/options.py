"""Options that many commands share, and who acts."""

import getpass
from typing import Annotated, Any, TypeAlias

import typer

from msgx.rpc.v1.admin_pb2 import Admin
from msgxctl.connect import Remote
from msgxctl.failure import Failure, Status, misused
from msgxctl.show import harmless

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Reason: TypeAlias = Annotated[
    str, typer.Option("--reason", help="Why, for the audit.", show_default=False)
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask back.")]
Limit: TypeAlias = Annotated[int, typer.Option("--limit", min=1, help="At most so many.")]
All: TypeAlias = Annotated[bool, typer.Option("--all", help="All of them, page by page.")]


def remote(context: typer.Context) -> Remote:
    """Return the services as this command line says."""
    return Remote(context.obj)


def act(context: typer.Context, reason: str) -> Admin:
    """Return who acts, and why: the operator is the login name unless something else is said.

    Raises:
        Failure: nobody knows who acts, or no reason is given.
    """
    operator = context.obj.operator or _login()
    if not reason.strip():
        misused("--reason must say why")
    return Admin(operator=operator, reason=reason)


def confirm(question: str, *, yes: bool) -> None:
    """Ask back unless `yes`.

    Raises:
        Failure: the answer is no, or nobody is there to give one.
    """
    if yes:
        return
    try:
        agreed = typer.confirm(harmless(question), err=True)
    except typer.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise Failure(Status.USAGE, "nobody answered: --yes goes on without asking") from None
    if not agreed:
        raise Failure(Status.FAILED, "nothing was done")


def pages_of(limit: int, everything: bool) -> int:
    """Return how many to show at most."""
    return 2**62 if everything else limit


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        misused("--operator must say who acts: this system does not know")


def subapp(**named: Any) -> typer.Typer:
    """Return a group of commands; without a command it shows its help."""
    return typer.Typer(no_args_is_help=True, **named)
