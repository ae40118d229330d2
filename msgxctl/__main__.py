"""`msgxctl`: its commands, and what they have in common."""

import sys
from io import TextIOWrapper
from pathlib import Path, PurePath
from traceback import extract_tb
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from msgxctl import (
    control,
    dead,
    decode,
    events,
    head,
    marks,
    messages,
    reference,
    requests,
    send,
    show,
)
from msgxctl.failure import Failure, Status
from msgxctl.place import PREFIX, settle

_PLACES = "Where the services answer"
_ADMISSION = "Admission"


class Guarded(TyperGroup):
    """The root: a failure ends as one sentence on standard error, never as a traceback."""

    def make_context(self, *given: Any, **named: Any) -> Any:
        """Read the options before the command."""
        try:
            return super().make_context(*given, **named)
        except TyperException as misuse:
            _misused(misuse)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except Failure as failure:
            show.note(failure.text)
            raise typer.Exit(failure.status) from None
        except TyperException as misuse:
            _misused(misuse)
            raise
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except ValueError as error:
            # Of protobuf; a range at each option would fill every help.
            if str(error).startswith("Value out of range"):
                show.note("no number of this kind is so large")
                raise typer.Exit(Status.USAGE) from None
            _tell(error)
        except Exception as defect:  # noqa: BLE001 - told, without its words: they may be hostile
            _tell(defect)
        raise typer.Exit(Status.FAILED) from None


def _misused(misuse: TyperException) -> None:
    """Say what is wrong with the command line in one sentence; a group alone shows its help."""
    if type(misuse).__name__ == "NoArgsIsHelpError":  # typer does not export it
        return
    words = " ".join(misuse.format_message().replace("Value error, ", "").split())
    path = getattr(getattr(misuse, "ctx", None), "command_path", "msgxctl")
    show.note(f"{words.rstrip('.')} ({path} --help)")
    raise typer.Exit(Status.USAGE)


def _tell(defect: Exception) -> None:
    frame = extract_tb(defect.__traceback__)[-1]
    place = f"{PurePath(frame.filename).name}:{frame.lineno}"
    show.note(f"a defect of msgxctl: {type(defect).__name__} at {place}")


app = typer.Typer(
    name="msgxctl",
    cls=Guarded,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Look at msgexchange and act on it.",
    epilog="Exit status: 0 done, 1 refused or failed, 2 misused, 3 no answer, 4 denied, 130"
    " interrupted.",
)


def _address(name: str, help: str, form: str = "HOST:PORT") -> Any:
    """Return the option of where somebody answers."""
    return typer.Option(
        envvar=f"{PREFIX}{name}", metavar=form, help=help, rich_help_panel=_PLACES
    )


def _file(name: str, help: str) -> Any:
    """Return the option of a file that admits."""
    return typer.Option(
        envvar=f"{PREFIX}{name}", metavar="FILE", help=help, rich_help_panel=_ADMISSION
    )


@app.callback()
def root(
    context: typer.Context,
    intake: Annotated[str | None, _address("INTAKE", "The control address of intake.")] = None,
    processor: Annotated[
        str | None, _address("PROCESSOR", "The control address of processor.")
    ] = None,
    refdata: Annotated[
        str | None, _address("REFDATA", "The control address of refdata.")
    ] = None,
    dispatcher: Annotated[
        str | None, _address("DISPATCHER", "The control address of dispatcher.")
    ] = None,
    api_control: Annotated[
        str | None, _address("API_CONTROL", "The api's control address.")
    ] = None,
    api: Annotated[str | None, _address("API", "The api's HTTP address.", form="URL")] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="MSGXCTL_CONFIG",
            help="A TOML file with any of these.  \\[default: ~/.config/msgxctl.toml]",
            show_default=False,
            rich_help_panel=_PLACES,
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            envvar="MSGXCTL_TIMEOUT",
            help="Seconds for an answer.  \\[default: 30]",
            rich_help_panel=_PLACES,
        ),
    ] = None,
    token_file: Annotated[
        str | None,
        _file(
            "TOKEN_FILE",
            "It holds the bearer token; the variable MSGXCTL_TOKEN goes before it.",
        ),
    ] = None,
    tls: Annotated[
        bool | None,
        typer.Option(
            "--tls",
            envvar="MSGXCTL_TLS",
            help="The control addresses speak TLS; with the system's CAs.",
            rich_help_panel=_ADMISSION,
        ),
    ] = None,
    ca: Annotated[str | None, _file("CA", "TLS, with the CAs in this PEM file.")] = None,
    certificate: Annotated[
        str | None, _file("CERTIFICATE", "TLS, with this client certificate.")
    ] = None,
    key: Annotated[str | None, _file("KEY", "The key of the client certificate.")] = None,
    operator: Annotated[
        str | None,
        typer.Option(
            envvar="MSGXCTL_OPERATOR",
            help="Who acts, for the audit.  \\[default: the login name]",
            rich_help_panel=_ADMISSION,
        ),
    ] = None,
) -> None:
    """Look at msgexchange and act on it."""
    given = {
        "intake": intake,
        "processor": processor,
        "refdata": refdata,
        "dispatcher": dispatcher,
        "api_control": api_control,
        "api": api,
        "token_file": token_file,
        "tls": tls,
        "ca": ca,
        "certificate": certificate,
        "key": key,
        "operator": operator,
        "timeout": timeout,
    }
    context.obj = settle(given, config)


app.command()(control.status)
app.command()(send.send)
app.command()(decode.decode)
app.add_typer(head.app, name="head")
app.add_typer(messages.app, name="message")
app.add_typer(dead.app, name="dead")
app.add_typer(requests.app, name="request")
app.add_typer(marks.app, name="abandoned")
app.add_typer(events.held, name="held")
app.add_typer(events.app, name="events")
app.add_typer(reference.app, name="reference")
app.command()(control.pause)
app.command()(control.resume)
app.command()(control.wake)


def main() -> None:
    """Run the command line, on terminals of any character set."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="msgxctl")


if __name__ == "__main__":
    main()
