"""The comment that belongs to a field or an enum's member, read from the source.

The meaning of such a name stands once, at its line; a generated page repeats it.
"""

import ast
import inspect
import io
import tokenize


def remarks(owner: type) -> dict[str, str]:
    """Return name to comment of the assignments in the body of `owner`: the comment at the end
    of the line, else the lines right above."""
    source = inspect.getsource(owner)
    comments, alone = _comments(source)
    found = {}
    for statement in _body(source):
        match statement:
            case (
                ast.AnnAssign(target=ast.Name(id=name))
                | ast.Assign(targets=[ast.Name(id=name)])
            ):
                text = _beside(statement, comments) or _above(statement.lineno, comments, alone)
                if text:
                    found[name] = text
            case _:
                pass
    return found


def _body(source: str) -> list[ast.stmt]:
    match ast.parse(source).body:
        case [ast.ClassDef(body=body)]:
            return body
        case _:
            raise ValueError("the source is not that of one class")


def _comments(source: str) -> tuple[dict[int, str], set[int]]:
    """Return the comments by line, and the lines that hold nothing else."""
    comments: dict[int, str] = {}
    alone: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.string.lstrip("# ").strip()
            if not token.line[: token.start[1]].strip():
                alone.add(token.start[0])
    return comments, alone


def _beside(statement: ast.stmt, comments: dict[int, str]) -> str:
    last = statement.end_lineno or statement.lineno
    return comments.get(last) or comments.get(statement.lineno) or ""


def _above(line: int, comments: dict[int, str], alone: set[int]) -> str:
    above: list[str] = []
    while (line := line - 1) in alone:
        above.insert(0, comments[line])
    return " ".join(above)


def sentence(owner: type) -> str:
    """Return the docstring of `owner` as one line."""
    return " ".join((inspect.getdoc(owner) or "").split())
