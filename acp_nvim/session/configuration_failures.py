"""The words for what can go wrong with a session's configuration."""

from __future__ import annotations

from acp_nvim.errors import Failure


def not_to_be_set(name: str, why: str) -> Failure:
    """The user wants something that the agent does not offer."""
    return Failure("not_offered", f"Agent {name!r}: {why}.", "", name)


def not_set_in_time(name: str, what: str, seconds: float) -> Failure:
    """The agent does not answer."""
    said = f"Agent {name!r} has not answered within {seconds:g} s that {what!r} is to be changed."
    return Failure("agent_silent", said, "What it makes of it later is shown, if it says so.", name)


def no_such_default(name: str, what: str, value: str | bool, why: str) -> Failure:
    """A session cannot begin with what the user has chosen for it."""
    words = ("on" if value else "off") if isinstance(value, bool) else repr(value)
    said = f"Agent {name!r} was not set to {what} {words}, as it should be here: {why}."
    return Failure("not_offered", said, "It goes on without.", name)


def no_defaults(name: str, error: OSError) -> Failure:
    """The file with what the user keeps for new sessions."""
    said = f"What is kept for new sessions of {name!r} cannot be read or written: {error.strerror or error}."
    return Failure("no_defaults", said, "Everything else works.", name)
