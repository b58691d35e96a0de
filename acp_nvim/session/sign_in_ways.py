"""The ways to sign in to an agent: those that it names, and the environment variables that we know it to take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from acp_nvim.agents.definition import AgentDefinition
from acp_nvim.protocol.answers import AuthMethod, AuthVariable
from acp_nvim.traffic.secret_names import is_secret_variable

OWN: Final = "acp_nvim/environment"
"""The id of the way that is ours: no agent hears of it."""


def ways(definition: AgentDefinition, told: Sequence[AuthMethod], named: Sequence[AuthMethod]) -> list[AuthMethod]:
    """Those that `initialize` has `told`, else those that an error `named`; ours last, for variables that none has."""
    theirs = list(told or named)
    known = {variable.name for method in theirs for variable in method.variables}
    needed = {name: what for name, what in definition.env_needed.items() if name not in known}
    return [*theirs, _own(needed)] if needed else theirs


def _own(needed: dict[str, str]) -> AuthMethod:
    """Any of them may be enough."""
    variables = [AuthVariable(name, what, is_secret_variable(name), optional=True) for name, what in needed.items()]
    return AuthMethod(method_id=OWN, name="A key in the environment", kind="env_var", variables=variables)
