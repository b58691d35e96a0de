"""The words about signing in: what is wanted, what goes on, what failed and what to do then."""

from __future__ import annotations

from acp_nvim.errors import Failure
from acp_nvim.jsonrpc.messages import RpcError
from acp_nvim.protocol.answers import AuthMethod

AGAIN = ":AcpLogin tries again."
GONE = "The agent has ended while it waited for you to sign in. :AcpLogin, or your next prompt, starts it again."
NOTHING_NEW = "nothing was entered that the agent did not have already."
CANCELLED = "Signing in was given up. :AcpLogin tries again."


def begun(method: AuthMethod) -> str:
    """Somebody has to do something now, maybe elsewhere."""
    where = {"terminal": "in the terminal that opens", "env_var": "with environment variables"}.get(method.kind)
    how = where or "the agent sees to it: it may open a browser, or tell here what to do"
    return f"Signing in with {method.name!r}: {how}. :AcpCancel gives up."


def done(agent: str, method: AuthMethod) -> str:
    """It worked."""
    return f"Signed in to {agent!r} with {method.name!r}."


def failed(agent: str, reason: str) -> Failure:
    """It did not."""
    return Failure("sign_in_failed", f"Signing in to {agent!r} failed: {reason}", AGAIN, agent)


def refused(agent: str, error: RpcError) -> Failure:
    """The agent says so."""
    return failed(agent, f"{error.describe()} (code {error.code}).")


def no_such_method(agent: str, method_id: str) -> Failure:
    """The agent may be another one since its methods were shown."""
    return failed(agent, f"it names no way to sign in with the id {method_id!r}.")


def unknown_kind(method: AuthMethod) -> str:
    """A type of a later version, or of somebody's own."""
    said = f" ({method.description})" if method.description else ""
    return (
        f"acp_nvim does not know ways to sign in of the type {method.kind!r}: {method.name!r}{said}. "
        "Do it as the agent's own documentation says; your next prompt tries again."
    )


def terminal_failed(code: int | None, problem: str | None) -> str:
    """What became of the terminal."""
    if problem is not None:
        return f"{problem}."
    return "the terminal was closed." if code is None or code < 0 else f"its program ended with exit code {code}."


def missing(agent: str, names: list[str], link: str | None) -> str:
    """Variables that have no value."""
    where = f" You get it at {link}." if link else ""
    return (
        f"{', '.join(names)} must be set.{where} :AcpLogin asks for it, and keeps it in memory only; to set it for "
        f"good do so in the shell that starts Neovim, or in agents.{agent}.env of your configuration."
    )


def no_way(agent: str, hint: str | None) -> str:
    """The agent names no way to sign in."""
    said = hint or "Sign in with its own program, in a shell"
    return f"Agent {agent!r} does not say how to sign in. {said.rstrip('.')}. Your next prompt tries again."


def signed_out(agent: str) -> str:
    """To each of its sessions."""
    return f"Signed out of {agent!r}: it may refuse prompts until you sign in again (:AcpLogin)."


def busy(agent: str) -> Failure:
    """One at a time."""
    return failed(agent, "you are signing in to it already; :AcpCancel in its chat gives that up.")
