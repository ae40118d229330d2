"""Write docs/msgxctl.md from the commands themselves."""

import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import typer

from msgxctl.__main__ import app
from msgxctl.failure import Status
from tools.page import notice, publish, table
from tools.remarks import remarks

PAGE: Final = "docs/msgxctl.md"
_OWN: Final = frozenset({"help", "install_completion", "show_completion"})
_ABOUT: Final = """\
`msgxctl` asks the services on their control addresses, and the api over HTTP. It holds no
password of a database and reads no table; who may do what is decided by the services ([running
it](running.md#operators)).

```console
$ pip install 'msgexchange[msgxctl]'
$ export MSGXCTL_PROCESSOR=10.0.0.5:7001 MSGXCTL_TOKEN_FILE=~/.msgx-token
$ msgxctl head
```

Every command takes `--json`: then standard output holds one JSON document in ASCII, times are
ISO-8601, and what is not set is `null`. Without it there are tables for people. What else there
is to say, and every failure, is one sentence on standard error; progress bars are shown there
too, on a terminal only. Text of messages is hostile: what a terminal would obey is replaced.

A command that changes something takes `--reason`, which `admin_audit` keeps with the operator;
what is discarded, skipped, sent again, or done to all that a filter picks is asked back, unless
`--yes` is given.

## Where the services are

Options stand before the command. An option goes before its variable, a variable before the
file; the file is TOML with the options' names (`processor = "10.0.0.5:7001"`),
`~/.config/msgxctl.toml` unless `--config` names another. An address may list several instances,
separated by commas: the one that leads does it. The token itself is never an option, since
other users of the machine see command lines.

"""
_COMPLETION: Final = """\
## Completion

```console
$ msgxctl --install-completion          # of the shell in use: bash, zsh, fish, PowerShell
$ msgxctl --show-completion bash        # only print it
```
"""


def pages() -> dict[str, str]:
    """Return the page."""
    root = typer.main.get_command(app)
    text = "# msgxctl\n\n" + notice("gen_msgxctl") + _ABOUT
    text += _options(root)
    text += "\n## Exit status\n\n"
    meaning = remarks(Status)
    text += table(
        ["status", "meaning"], [[str(one.value), meaning[one.name]] for one in Status]
    )
    text += "\n" + _COMPLETION + "\n## Commands\n"
    for name, command in _commands(root, ()):
        text += _command(name, command)
    return {PAGE: text}


def _commands(group: Any, before: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield every command as it is declared; a group that can be asked itself goes first."""
    for name, command in group.commands.items():
        path = (*before, name)
        if getattr(command, "commands", None):
            if command.invoke_without_command:
                yield " ".join(path), command
            yield from _commands(command, path)
        else:
            yield " ".join(path), command


def _command(name: str, command: Any) -> str:
    words = [f"msgxctl {name}"]
    words += [_argument(one) for one in command.params if one.param_type_name == "argument"]
    words += [
        f"{_long(one)} {_value(one)}".strip()
        for one in command.params
        if one.param_type_name == "option" and one.required
    ]
    paragraphs = [" ".join(one.split()) for one in (command.help or "").split("\n\n")]
    text = f"\n### {name}\n\n" + "\n\n".join(one for one in paragraphs if one)
    text += f"\n\n```text\n{' '.join(words)}\n```\n\n"
    return text + _options(command)


def _options(command: Any) -> str:
    rows = [
        [
            f"`{', '.join(sorted((*one.opts, *one.secondary_opts), key=len))}`"
            + (f" {_value(one)}" if _value(one) else ""),
            _help(one),
            f"`{one.envvar}`" if one.envvar else "",
        ]
        for one in command.params
        if one.param_type_name == "option" and one.name not in _OWN
    ]
    variables = any(row[2] for row in rows)
    head = ["option", "meaning", "variable"]
    width = 3 if variables else 2
    return table(head[:width], [row[:width] for row in rows]) if rows else ""


def _argument(one: Any) -> str:
    name = (one.metavar or one.name.removesuffix("_")).upper().replace("_", "-")
    name = f"{name}…" if one.nargs == -1 else name
    return name if one.required else f"[{name}]"


def _value(one: Any) -> str:
    """Return what stands for the value of an option; nothing: it is a switch."""
    if one.is_flag:
        return ""
    if one.metavar:
        return str(one.metavar)
    kind = one.type_descriptor.annotation
    kind = (*get_args(kind), kind)[0]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(choice.value) for choice in kind)
    return {int: "N", float: "SECONDS"}.get(kind, "TEXT")


def _help(one: Any) -> str:
    text = (one.help or "").replace("\\[", "[")
    if one.required:
        text += " Required."
    elif one.default not in (None, False, 0) and "[default" not in text:
        text += f" Default: {one.default}."
    return text


def _long(one: Any) -> str:
    return str(max(one.opts, key=len))


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
