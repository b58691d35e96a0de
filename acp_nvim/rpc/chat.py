"""Handles messages about the chat of a session: prompts and their queue, the turn, options, tool calls, terminals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import anyio.to_thread
import msgspec

from acp_nvim.acp.schema_common import AudioContent, ImageContent
from acp_nvim.acp.tool_call import Shown
from acp_nvim.contract import messages
from acp_nvim.contract.editor import Editor
from acp_nvim.contract.events import CallMediaWritten, PromptsTaken, QueuedText, QueueLate
from acp_nvim.contract.mcp_messages import DropDecisions, SendProblems
from acp_nvim.contract.messages import Handlers
from acp_nvim.contract.session_events import SessionDone
from acp_nvim.prompt.items import context_items
from acp_nvim.prompt.prompt import NOTHING, Prompt, says_something
from acp_nvim.session.block_cancelling import Item
from acp_nvim.session.session import Session
from acp_nvim.session.subagents import ParentConversation, Subagent
from acp_nvim.transcript.media import UnusableError, write_media


class ChatHandlers:
    """Passes messages to `sessions` by their keys; an unknown key raises `KeyError`.

    `conversations` contains also the child sessions of agents, to which no prompt may go.
    """

    def __init__(
        self, sessions: Mapping[int, Session], conversations: Mapping[int, ParentConversation], editor: Editor
    ) -> None:
        self._sessions = sessions
        self._conversations = conversations
        self._editor = editor
        self.handlers: Handlers = {
            messages.Prompt: self._prompt,
            messages.QueueSet: self._set_queue,
            messages.Steer: lambda message: sessions[message.session].steering.steer(message.id),
            messages.Cancel: lambda message: conversations[message.session].cancel(message.force),
            messages.CancelBlock: self._cancel_block,
            messages.Stop: lambda message: sessions[message.session].stop(),
            messages.Redraw: lambda message: conversations[message.session].redraw(message.after),
            messages.CallDetails: self._call_details,
            messages.CallMedia: lambda message: conversations[message.session].tasks.spawn(self._write_media, message),
            messages.TerminalOpen: lambda message: conversations[message.session].presenter.open_terminal(
                message.terminal
            ),
            messages.TerminalClose: lambda message: conversations[message.session].presenter.close_terminal(
                message.terminal
            ),
            DropDecisions: lambda message: sessions[message.session].changes.decided.drop(),
            SendProblems: lambda message: sessions[message.session].after_turn.send(),
            messages.ConfigSet: self._set_option,
            messages.ConfigForget: lambda message: sessions[message.session].configuration.forget(),
        }

    def _prompt(self, message: messages.Prompt) -> None:
        session = self._sessions[message.session]
        try:
            prompt = Prompt(message.text, context_items(message.context), message.id)
        except msgspec.ValidationError:  # return it to the editor, which does not show it any more
            late = [QueuedText(message.text, message.id)]
            session.presenter.publish(QueueLate(session=session.key, prompts=late))
            if message.id is not None:
                session.presenter.publish(PromptsTaken(session=session.key, ids=[message.id]))
            raise
        if not prompt.context and not says_something(prompt.text):
            session.presenter.notice("warn", NOTHING)
            session.presenter.publish(PromptsTaken(session=session.key, ids=[] if prompt.id is None else [prompt.id]))
            return
        if prompt.needs_reading():
            prompt.reading = session.tasks.spawn(prompt.read)
        session.prompt(prompt)

    async def _cancel_block(self, message: messages.CancelBlock) -> None:
        session = self._conversations[message.session]
        child = session.subagents.at_block(message.block)
        if child is not None:
            why = child.why_not_cancelled
            item: Item | Subagent | str = child if why is None else str(why)
        else:
            item = session.blocks.find(message.block, message.terminal, ours=not message.or_turn)
        if isinstance(item, Subagent):
            self._editor.publish(SessionDone(id=message.id, words=f"Cancelling only {item.name!r}."))
            item.cancel()
        elif not isinstance(item, str):
            words = f"Cancelling only {item.name}."
            self._editor.publish(SessionDone(id=message.id, words=words))
            await session.blocks.cancel(item)
        elif message.or_turn:
            self._editor.publish(SessionDone(id=message.id))
            session.cancel()
        else:
            self._editor.publish(SessionDone(id=message.id, problem=item))

    def _set_queue(self, message: messages.QueueSet) -> None:
        session = self._sessions[message.session]
        prompts = [one for one in message.prompts if says_something(one.text)]
        for prompt in session.queue.set(prompts, message.known, message.held, message.revision):
            prompt.reading = session.tasks.spawn(prompt.read)
        if session.queue.next is not None and any(one.id not in message.known for one in prompts):
            session.open()
        session.presenter.publish_status()

    def _set_option(self, message: messages.ConfigSet) -> None:
        session = self._sessions[message.session]
        if not session.configuration.set(message.option, message.value, message.keep):
            session.open()

    def _call_details(self, message: messages.CallDetails) -> None:
        details = self._conversations[message.session].presenter.transcript.call_details(message.block)
        if details is not None:
            self._editor.publish(details)

    async def _write_media(self, message: messages.CallMedia) -> None:
        answer = partial(CallMediaWritten, session=message.session)
        call = self._conversations[message.session].presenter.transcript.call_block(message.block)
        shown = call.items() if call else []
        item = shown[message.place] if 0 <= message.place < len(shown) else None
        if not isinstance(item, Shown) or not isinstance(item.block, ImageContent | AudioContent):
            self._editor.publish(answer(problem="the tool call has another content now"))
            return
        try:
            path = await anyio.to_thread.run_sync(write_media, item.block, Path(message.directory))
        except UnusableError as error:
            self._editor.publish(answer(problem=str(error)))
        else:
            self._editor.publish(answer(path=str(path)))
