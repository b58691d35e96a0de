"""What a session does while its agent wants the user to sign in first."""

from __future__ import annotations

from acp_nvim.errors import Failure
from acp_nvim.session.peer import AgentPeer


class SignIn:
    """Of one session. The agent's process stays while somebody may sign in; the prompt waits in the queue."""

    def __init__(self) -> None:
        self.peer: AgentPeer | None = None

    def __repr__(self) -> str:
        return f"<SignIn at {self.peer}>"

    def needed(self, peer: AgentPeer, failure: Failure) -> None:
        """`session/new|load|resume|fork` or `session/prompt` was refused; the session tells the failure itself."""
        if self.peer is not peer:
            self.done()
            peer.hold(self)
            self.peer = peer

    def done(self) -> None:
        """The session is open, or not wanted any more: nobody signs in."""
        peer, self.peer = self.peer, None
        if peer is not None:
            peer.release(self)
