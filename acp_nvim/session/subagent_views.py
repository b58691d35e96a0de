"""What the editor is told of a child session: its block in the chat of its parent, and the status of its own chat."""

from __future__ import annotations

import msgspec

from acp_nvim.contract import events
from acp_nvim.session.conversation import Conversation
from acp_nvim.session.subagent_work import SubagentWork


def view_of(
    child: Conversation, work: SubagentWork, title: str, description: str | None, can_cancel: bool
) -> events.SubagentView:
    """Return what the block of a child session shows."""
    return events.SubagentView(
        session=child.key,
        session_id=child.session_id or "",
        title=title,
        state=child.state,
        description=description,
        stop_reason=work.stop_reason,
        activity=child.presenter.metadata.activity.words,
        started=work.started,
        ended=work.ended,
        review=child.changes.counts,
        cancel=can_cancel,
    )


def status_of(child: Conversation, work: SubagentWork, title: str) -> events.StatusView:
    """Return the status of a child session, which has no queue."""
    status = events.StatusView(
        agent=child.agent,
        agent_title=title,
        state=child.state,
        cwd=child.place.cwd,
        pending_permissions=child.requests.permissions.count,
        pending_elicitations=child.requests.elicitations.count,
        queue=0,
        session_id=child.session_id,
        stop_reason=work.stop_reason,
        review=child.changes.counts,
        directories=child.roots.directories if child.is_open else [],
        watched=child.reviewed.outside if child.is_open else [],
    )
    return msgspec.structs.replace(child.presenter.metadata.added_to(status), title=title)
