"""The one exception of the local stack: its text is the sentence a person reads."""


class CannotStart(RuntimeError):
    """The stack cannot be started; the message says why and what to do, in one sentence."""


class Interrupted(RuntimeError):
    """The stack is being stopped while a part of it was still starting."""
