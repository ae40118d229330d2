"""`msgx`: what needs no running service. `python -m msgx config check`."""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Final

from msgx.config.gather import CONFIG, Given
from msgx.config.parameters import Parameter, parameters, shown
from msgx.config.reading import Unusable, read_from
from msgx.runtime import tls
from msgx.settings import AllSettings, ProcessSettings
from msgx.store.service_term import Service

_INDENT: Final = "  "


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 0: usable, 1: not usable, 2: no such command."""
    given = _parser().parse_args(arguments)
    services = [Service(given.service)] if given.service else list(Service)
    command: Callable[[Service, str | None], bool] = given.command
    fine = [command(service, given.file) for service in services]  # each one speaks
    return 0 if all(fine) else 1


def check(service: Service, file: str | None) -> bool:
    """Say whether `service` would start with this configuration, or everything that is
    wrong."""
    return _read(service, file, _usable)


def show(service: Service, file: str | None) -> bool:
    """Say every parameter of `service`, its value and where it comes from; no secret."""
    return _read(service, file, _values)


def _read(
    service: Service,
    file: str | None,
    then: Callable[[ProcessSettings, Given], Iterator[str]],
) -> bool:
    try:
        kind: type[ProcessSettings] = importlib.import_module(
            f"services.{service}.settings"
        ).SETTINGS
    except ImportError:
        _say(service, ["is not installed here"])
        return False
    try:
        settings, given = read_from(kind, AllSettings, os.environ, file)
        lines = list(then(settings, given))
    except Unusable as refusal:
        _say(service, str(refusal).splitlines())
        return False
    _say(service, lines)
    return True


def _usable(settings: ProcessSettings, given: Given) -> Iterator[str]:
    """Say so, if what the files hold fits as well."""
    del given
    try:
        tls.credentials(settings.control)
    except ValueError as fault:
        raise Unusable([str(fault)]) from None
    yield "usable"


def _values(settings: ProcessSettings, given: Given) -> Iterator[str]:
    for one in parameters(type(settings)):
        source = given.names.get(one.path, "default")
        yield f"{one.key} = {shown(_value(settings, one))}{_INDENT}[{source}]"


def _value(settings: object, one: Parameter) -> object:
    for name in one.path:
        settings = getattr(settings, name)
    return settings


def _say(service: Service, lines: list[str]) -> None:
    first, *rest = lines
    if rest and "=" in first:
        first, rest = "", [first, *rest]
    print(f"{service}: {first}".rstrip())  # noqa: T201
    for line in rest:
        print(f"{_INDENT}{line}")  # noqa: T201


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="msgx",
        description="msgexchange: what needs no running service. Operators use msgxctl.",
    )
    groups = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    config = groups.add_parser(
        "config",
        help="look at the configuration",
        description="Look at the configuration of this environment; nothing is started.",
    )
    commands = config.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, command, text in (
        ("check", check, "say what a service would refuse at its start; 1 if anything"),
        ("show", show, "say every value and where it comes from; secrets stay hidden"),
    ):
        one = commands.add_parser(name, help=text, description=text.capitalize() + ".")
        one.add_argument(
            "--service",
            choices=[str(service) for service in Service],
            help="only this one; without it: every service",
        )
        one.add_argument("--file", help=f"the YAML file, instead of that of {CONFIG}")
        one.set_defaults(command=command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
