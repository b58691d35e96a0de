"""Presents a child session, whose chat the editor may never show."""

from __future__ import annotations

from acp_nvim.contract import events
from acp_nvim.transcript.presenter import Presenter


class ChildPresenter(Presenter):
    """Presents a child session; its messages are not sent until the editor shows its chat, which then gets all."""

    is_shown = False

    def redraw(self, after: bool = False) -> None:
        """See `Presenter.redraw`; the editor shows the chat from now on."""
        self.is_shown = True
        super().redraw(after)

    def publish(self, event: events.Event | None) -> None:
        """See `Presenter.publish`."""
        super().publish(None if event is None or self._is_hidden(event) else event)

    def _tell(self, event: events.Event) -> None:
        if not self._is_hidden(event):
            super()._tell(event)

    def _is_hidden(self, event: events.Event) -> bool:
        return isinstance(event, events.Append | events.Replace) and not self.is_shown
