#!/bin/sh
# An agent in JavaScript that sends its text in pieces may cut a character in two, as strings there have units of 16 bits.
# The official SDK for TypeScript sends each half as an escape, which is well-formed JSON. The official SDK for Python takes
# both: the text that a client joins looks like the agent's, and cannot be encoded. A strict reader of JSON refuses the
# whole line, msgspec even if the text is only to be passed on (`Raw`). Who joins pieces has to join the halves first.
#
# Seen with @agentclientprotocol/sdk 2.4.0, agent-client-protocol 0.12.1 and msgspec 0.22.0 (2026-11-30):
#   'ok \ud83d\ude00.' instead of 'ok \U0001f600.'
#   UnicodeEncodeError: surrogates not allowed
#   DecodeError: Input data was truncated
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q agent-client-protocol==0.12.1 msgspec==0.22.0
npm install --silent --no-save --prefix . @agentclientprotocol/sdk@2.4.0

cat >agent.mjs <<'AGENT'
import * as acp from "@agentclientprotocol/sdk";
import { Readable, Writable } from "node:stream";

const { agent: calls, client } = acp.methods;
const pieces = [..."ok ", ..."\u{1f600}".split(""), "."];
const agent = acp
  .agent({ name: "pieces" })
  .onRequest(calls.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest(calls.session.new, () => ({ sessionId: "one" }))
  .onRequest(calls.session.prompt, async (ctx) => {
    for (const text of pieces) {
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
      await ctx.client.notify(client.session.update, { sessionId: "one", update });
    }
    return { stopReason: "end_turn" };
  });
await agent.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin))).closed;
AGENT

cat >client.py <<'CLIENT'
import asyncio

import msgspec
from acp import PROTOCOL_VERSION, Client, spawn_agent_process
from acp.helpers import text_block

SENT = "ok \U0001f600."


class Listener(Client):
    def __init__(self):
        self.text = ""
        self.all = asyncio.Event()

    async def session_update(self, session_id, update, **more):
        self.text += update.content.text
        if self.text.endswith("."):
            self.all.set()


async def talk():
    listener = Listener()
    async with spawn_agent_process(lambda agent: listener, "node", "agent.mjs") as (agent, _):
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        await agent.prompt(session_id=session.session_id, prompt=[text_block("hello")])
        await asyncio.wait_for(listener.all.wait(), 20)
    return listener.text


text = asyncio.run(talk())
print(f"{ascii(text)} instead of {ascii(SENT)}")
assert text == "ok \ud83d\ude00." != SENT
try:
    text.encode()
except UnicodeEncodeError as error:
    print(f"UnicodeEncodeError: {error.reason}")
else:
    raise SystemExit("changed: the text can be encoded")
try:
    msgspec.json.decode(rb'{"text": "\ud83d"}', type=dict[str, msgspec.Raw])
except msgspec.DecodeError as error:
    print(f"DecodeError: {error}")
else:
    raise SystemExit("changed: msgspec passes half a character on")
CLIENT
python/bin/python client.py
