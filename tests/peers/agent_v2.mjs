// An agent of the draft of protocol version 2, written with the official SDK; `wholeTurn` shows each thing it can say.
import path from "node:path";
import { BLOCKS, KEPT, load, OPTIONS, pause, promptKinds, promptText, questions, serve, until, withdrawal } from "./sdk.mjs";

const acp = await load("@agentclientprotocol/sdk/experimental/v2");
const { agent: calls, client } = acp.methods;

const text = (words) => ({ type: "text", text: words });
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const COMMANDS = [
  { type: "command", name: "plan", description: "Make a plan", input: { type: "text", hint: "of what" } },
  { type: "command", name: "help", description: "Say what there is" },
];

class Session {
  constructor(id, directory, title, said = []) {
    Object.assign(this, { id, cwd: directory, title, said, mode: "ask", model: "small", verbose: false, active: true });
    this.turn = new AbortController();
    this.messages = 0;
  }

  get configOptions() {
    const modes = [
      { value: "ask", name: "Ask first" },
      { value: "code", name: "Write code" },
    ];
    const groups = [
      { groupId: "fast", name: "Fast", options: [{ value: "small", name: "Small" }] },
      { groupId: "slow", name: "Slow", options: [{ value: "big", name: "Big", description: "Thinks longer." }] },
    ];
    return [
      { configId: "mode", name: "Mode", category: "mode", type: "select", currentValue: this.mode, options: modes },
      { configId: "model", name: "Model", category: "model", type: "select", currentValue: this.model, options: groups },
      { configId: "verbose", name: "Verbose", type: "boolean", currentValue: this.verbose },
    ];
  }

  newMessage() {
    return `${this.id}-m${++this.messages}`;
  }

  /** Tells the client, and remembers what belongs to the conversation. */
  async update(ctx, kind, fields) {
    const update = { sessionUpdate: kind, ...fields };
    if (/message|thought|tool_call|plan|terminal/.test(kind)) this.said.push(update);
    await ctx.client.notify(client.session.update, { sessionId: this.id, update });
  }

  say(ctx, words, messageId) {
    return this.update(ctx, "agent_message_chunk", { messageId, content: text(words) });
  }

  state(ctx, state, fields = {}) {
    this.current = state;
    return this.update(ctx, "state_update", { state, ...fields });
  }
}

const sessions = new Map();
const add = (session) => sessions.set(session.id, session).get(session.id);
let counted = 0;
let signedIn = true;

add(
  new Session(KEPT.sessionId, process.cwd(), KEPT.title, [
    { sessionUpdate: "user_message", messageId: "k1", content: [text("What is this?")] },
    { sessionUpdate: "agent_thought_chunk", messageId: "k2", content: text("A question.") },
    { sessionUpdate: "tool_call_update", toolCallId: "k3", title: "Look", kind: "read", status: "completed" },
    { sessionUpdate: "agent_message", messageId: "k4", content: [text("A test.")] },
  ]),
).active = false;
add(new Session("elsewhere", "/elsewhere", "In another directory")).active = false;

function known(sessionId, active = true) {
  const session = sessions.get(sessionId);
  if (!session || (active && !session.active)) throw acp.RequestError.sessionNotFound(sessionId);
  return session;
}

// --- the turn -------------------------------------------------------------------------------------------------------

const TURNS = {
  async slow(ctx, session, signal) {
    const messageId = session.newMessage();
    await until(signal, () => session.say(ctx, "tick ", messageId));
    return { stopReason: "cancelled" };
  },
  async "fail later"() {
    const error = { code: -32603, message: "Internal error", data: { details: "the provider is down" } };
    return { stopReason: "error", error };
  },
  async ask(ctx, session, signal) {
    await permission(ctx, session, deletion());
    return { stopReason: signal.aborted ? "cancelled" : "end_turn" };
  },
  async state(ctx, session) {
    const words = `mode=${session.mode} model=${session.model} verbose=${session.verbose}`;
    await session.say(ctx, words, session.newMessage());
    return { stopReason: "end_turn" };
  },
  async withdraw(ctx, session) {
    await permission(ctx, session, deletion(), withdrawal());
    return { stopReason: "end_turn" };
  },
  async snapshot(ctx, session) {
    await session.say(ctx, "Still here.", session.newMessage());
    return { stopReason: "end_turn" };
  },
  async questions(ctx, session) {
    await session.say(ctx, await questions(ctx, client.elicitation, session.id), session.newMessage());
    return { stopReason: "end_turn" };
  },
  async limit() {
    return { stopReason: "max_tokens" };
  },
  async jobs(ctx, session, signal) {
    const capabilities = { cancel: {} };
    await session.update(ctx, "terminal_update", { terminalId: "job-t", command: "watch", capabilities });
    const content = [{ type: "terminal", terminalId: "job-t" }];
    const call = { toolCallId: "job", title: "Job", kind: "execute", status: "in_progress", content, capabilities };
    await session.update(ctx, "tool_call_update", call);
    session.cancelled = new Set();
    await until({ get aborted() { return signal.aborted || session.cancelled.size === 2; } }, () => {}); // prettier-ignore
    await session.say(ctx, "Both are gone.", session.newMessage());
    return { stopReason: "end_turn" };
  },
};

TURNS["snapshot of the last end"] = TURNS.snapshot;

/** Tells again that nothing works yet, between the answer to a prompt and its work. */
async function snapshot(ctx, session, words) {
  await session.state(ctx, "idle", { background: [], ...(words === "snapshot" ? {} : { stopReason: "end_turn" }) });
  await pause(20);
}

async function wholeTurn(ctx, session) {
  await messages(ctx, session);
  await plans(ctx, session);
  await toolCall(ctx, session);
  await terminal(ctx, session);
  await facts(ctx, session);
  await permission(ctx, session, deletion());
  await permission(ctx, session, { type: "command", command: "rm -rf build", cwd: session.cwd });
  setImmediate(() => inTheBackground(ctx, session));
  return { stopReason: "end_turn", background: [{ type: "terminal", terminalId: "terminal-2" }] };
}

async function messages(ctx, session) {
  const draft = session.newMessage();
  await session.say(ctx, "A dr", draft);
  await session.say(ctx, "aft.", draft);
  await session.update(ctx, "agent_message", { messageId: draft, content: [text("Let me "), text("look.")] });
  await session.say(ctx, " Now. ", draft);
  await session.update(ctx, "agent_message", { messageId: draft }); // no content: nothing changes
  const taken = session.newMessage();
  await session.say(ctx, "Never mind.", taken);
  await session.update(ctx, "agent_message", { messageId: taken, content: null });
  const thought = session.newMessage();
  await session.update(ctx, "agent_thought_chunk", { messageId: thought, content: text("Hm.") });
  await session.update(ctx, "agent_thought", { messageId: thought, content: [text("Hm, ")] });
  await session.update(ctx, "agent_thought_chunk", { messageId: thought, content: text("where?") });
}

async function plans(ctx, session) {
  const plan = (planId, ...entries) => session.update(ctx, "plan_update", { plan: { type: "items", planId, entries } });
  await plan(
    "plan-a",
    { content: "Look", priority: "high", status: "in_progress" },
    { content: "Write", priority: "low", status: "pending" },
  );
  await plan("plan-b", { content: "Rest", priority: "medium", status: "cancelled" });
  await plan(
    "plan-a",
    { content: "Look", priority: "high", status: "completed" },
    { content: "Write", priority: "low", status: "in_progress" },
  );
}

function diff(session) {
  const at = (name) => path.join(session.cwd, name);
  const [notes, added, old] = ["notes.txt", "new.txt", "old.txt"].map(at);
  const changes = [
    { operation: "modify", path: notes, fileType: "text", mimeType: "text/plain" },
    { operation: "add", path: added, fileType: "text" },
    { operation: "delete", path: old, fileType: "text" },
    { operation: "move", oldPath: at("from.txt"), path: at("to.txt"), fileType: "text" },
    { operation: "copy", oldPath: notes, path: at("copy.txt") },
    { operation: "modify", path: at("logo.png"), fileType: "binary", mimeType: "image/png" },
    { operation: "_relabel", path: at("label") },
  ];
  const lines = [
    `diff --git ${notes} ${notes}\n--- ${notes}\n+++ ${notes}`,
    "@@ -1,3 +1,3 @@\n first\n-second\n+the second\n third",
    `diff --git ${added} ${added}\nnew file mode 100644\n--- /dev/null\n+++ ${added}`,
    "@@ -0,0 +1 @@\n+new",
    `diff --git ${old} ${old}\ndeleted file mode 100644\n--- ${old}\n+++ /dev/null`,
    "@@ -1 +0,0 @@\n-old",
    `diff --git ${at("from.txt")} ${at("to.txt")}\nsimilarity index 50%`,
    `rename from ${at("from.txt")}\nrename to ${at("to.txt")}\n--- ${at("from.txt")}\n+++ ${at("to.txt")}`,
    "@@ -7 +7 @@\n-here\n+there",
  ];
  return { type: "diff", changes, patch: { format: "git_patch", text: `${lines.join("\n")}\n` } };
}

async function toolCall(ctx, session) {
  const toolCallId = "call-1";
  const file = path.join(session.cwd, "notes.txt");
  const call = { toolCallId, title: "Edit notes.txt", kind: "edit", name: "edit_file", status: "pending" };
  await session.update(ctx, "tool_call_update", { ...call, rawInput: { file } });
  const locations = [{ path: file, line: 2 }];
  await session.update(ctx, "tool_call_update", { toolCallId, status: "in_progress", locations });
  await session.update(ctx, "tool_call_update", { toolCallId, content: [{ type: "content", content: BLOCKS[0] }] });
  const more = [...BLOCKS.slice(1).map((block) => ({ type: "content", content: block })), diff(session)];
  more.push({ type: "terminal", terminalId: "terminal-1" }, { type: "_graph", nodes: 3 });
  for (const content of more) await session.update(ctx, "tool_call_content_chunk", { toolCallId, content });
  const end = { title: "Edited notes.txt", status: "completed", rawOutput: { changed: 1 } };
  await session.update(ctx, "tool_call_update", { toolCallId, ...end });
}

async function terminal(ctx, session) {
  const terminalId = "terminal-1";
  const size = { cols: 80, rows: 24 };
  await session.update(ctx, "terminal_update", { terminalId, command: "make", cwd: session.cwd, size });
  const bytes = Buffer.from("grün ✓\n");
  for (const part of [bytes.subarray(0, 3), bytes.subarray(3, 7), bytes.subarray(7)]) {
    await session.update(ctx, "terminal_output_chunk", { terminalId, data: base64(part) });
  }
  await session.update(ctx, "terminal_update", { terminalId, exitStatus: { exitCode: 3 } });
  const other = { terminalId: "terminal-2", command: "watch", output: { data: base64("started\n") } };
  await session.update(ctx, "terminal_update", other);
  const content = [{ type: "terminal", terminalId: "terminal-2" }];
  const call = { toolCallId: "call-3", title: "Watch", kind: "execute", status: "in_progress", content };
  await session.update(ctx, "tool_call_update", call);
}

async function facts(ctx, session) {
  await session.update(ctx, "available_commands_update", { availableCommands: COMMANDS });
  await session.update(ctx, "usage_update", { used: 1200, size: 200000, cost: { amount: 0.25, currency: "USD" } });
  session.title = "About notes";
  await session.update(ctx, "session_info_update", { title: session.title });
  Object.assign(session, { mode: "code", model: "big" });
  await session.update(ctx, "config_option_update", { configOptions: session.configOptions });
  const notice = { severity: "warning", title: "Slow today", description: "The provider is busy." };
  await session.update(ctx, "notice", notice);
  const compactionId = "c1";
  await session.update(ctx, "compaction_update", { compactionId, status: "in_progress" });
  await session.update(ctx, "compaction_summary_chunk", { compactionId, content: text("They spoke of notes.") });
  await session.update(ctx, "compaction_update", { compactionId, status: "completed" });
  await session.update(ctx, "_peer_mood", { mood: "good" });
}

function deletion() {
  const content = [{ type: "content", content: text("rm notes.txt") }];
  const toolCall = { toolCallId: "call-2", title: "Delete notes.txt", kind: "delete", status: "pending", content };
  return { type: "tool_call", toolCall };
}

async function permission(ctx, session, subject, options = {}) {
  const words = { title: `May I, with a ${subject.type}?`, description: "It cannot be undone." };
  const request = { sessionId: session.id, ...words, subject, options: OPTIONS };
  const asking = ctx.client.request(client.session.requestPermission, request, options);
  await session.state(ctx, "requires_action");
  const { outcome } = await asking;
  await session.state(ctx, "running");
  const chosen = outcome.outcome === "selected" ? `You chose ${outcome.optionId}. ` : "You chose nothing. ";
  await session.say(ctx, chosen, session.newMessage());
}

/** What goes on after the turn. */
async function inTheBackground(ctx, session) {
  const terminalId = "terminal-2";
  await session.update(ctx, "terminal_output_chunk", { terminalId, data: base64("changed\n") });
  await session.update(ctx, "terminal_update", { terminalId, exitStatus: { signal: "SIGTERM" } });
  await session.update(ctx, "tool_call_update", { toolCallId: "call-3", status: "completed" });
  await session.update(ctx, "notice", { severity: "info", title: "The watch ended" });
  await session.state(ctx, "idle", { background: [] });
}

function prompt(ctx) {
  const session = known(ctx.params.sessionId);
  const blocks = ctx.params.prompt;
  const words = promptText(blocks);
  if (words === "fail") throw new acp.RequestError(-32603, "Internal error", { details: "the provider is down" });
  const messageId = session.newMessage();
  session.turn = new AbortController();
  const { signal } = session.turn;
  setImmediate(async () => {
    if (words.startsWith("snapshot")) await snapshot(ctx, session, words);
    await session.update(ctx, "user_message", { messageId, content: blocks });
    await session.state(ctx, "running");
    if (blocks.length > 1) await session.say(ctx, `You gave ${promptKinds(blocks)}. `, session.newMessage());
    await session.state(ctx, "idle", await (TURNS[words] ?? wholeTurn)(ctx, session, signal));
  });
  return { messageId };
}

// --- sessions -------------------------------------------------------------------------------------------------------

function initialize() {
  return {
    protocolVersion: acp.PROTOCOL_VERSION,
    info: { name: "peer-v2", title: "A peer", version: "1.2.3" },
    capabilities: {
      session: { prompt: { image: {}, audio: {}, embeddedContext: {} }, mcp: { stdio: {}, http: {} }, delete: {} },
    },
    authMethods: [{ type: "agent", methodId: "agent-login", name: "Sign in", description: "In this agent." }],
  };
}

function create({ params }) {
  if (!signedIn) throw acp.RequestError.authRequired();
  const session = add(new Session(`session-${++counted}`, params.cwd, null));
  session.current = "idle";
  return { sessionId: session.id, configOptions: session.configOptions, availableCommands: COMMANDS };
}

async function resume(ctx) {
  const session = known(ctx.params.sessionId, false);
  session.active = true;
  const again = ctx.params.replayFrom?.type === "start" ? session.said : [];
  for (const update of [...again, { sessionUpdate: "state_update", state: session.current ?? "idle" }]) {
    await ctx.client.notify(client.session.update, { sessionId: session.id, update });
  }
  return { configOptions: session.configOptions, availableCommands: COMMANDS };
}

/** One session a page; those of an earlier run first. */
function list({ params }) {
  const all = [...sessions.values()].filter((one) => !params.cwd || one.cwd === params.cwd);
  const page = Number(params.cursor ?? 0);
  const shown = all.slice(page, page + 1).map(({ id, cwd, title }) => ({
    sessionId: id,
    cwd,
    ...(title ? { title } : {}),
    ...(id === KEPT.sessionId ? { updatedAt: KEPT.updatedAt } : {}),
  }));
  return { sessions: shown, ...(page + 1 < all.length ? { nextCursor: String(page + 1) } : {}) };
}

function close({ params }) {
  const session = known(params.sessionId);
  session.turn.abort();
  session.active = false;
}

function setConfigOption({ params }) {
  const session = known(params.sessionId);
  const { configId, value } = params;
  const values = { mode: ["ask", "code"], model: ["small", "big"], verbose: [true, false] }[configId];
  const fits = params.type === (configId === "verbose" ? "boolean" : "id") && values?.includes(value);
  if (!fits) throw acp.RequestError.invalidParams({ configId });
  session[configId] = value;
  return { configOptions: session.configOptions };
}

async function cancelToolCall(ctx) {
  const { sessionId, toolCallId } = ctx.params;
  const session = known(sessionId);
  session.cancelled.add(toolCallId);
  await session.update(ctx, "tool_call_update", { toolCallId, status: "cancelled", capabilities: null });
  return {};
}

async function cancelTerminal(ctx) {
  const { sessionId, terminalId } = ctx.params;
  const session = known(sessionId);
  session.cancelled.add(terminalId);
  const exitStatus = { signal: "SIGTERM" };
  await session.update(ctx, "terminal_update", { terminalId, exitStatus, capabilities: null });
  return {};
}

export const agent = acp
  .agent({ name: "peer-v2" })
  .onRequest(calls.initialize, initialize)
  .onRequest(calls.auth.login, () => void (signedIn = true))
  .onRequest(calls.auth.logout, () => void (signedIn = false))
  .onRequest(calls.session.new, create)
  .onRequest(calls.session.resume, resume)
  .onRequest(calls.session.list, list)
  .onRequest(calls.session.close, close)
  .onRequest(calls.session.delete, ({ params }) => void sessions.delete(known(params.sessionId, false).id))
  .onRequest(calls.session.setConfigOption, setConfigOption)
  .onRequest(calls.session.prompt, prompt)
  .onRequest(calls.toolCall.cancel, cancelToolCall)
  .onRequest(calls.terminal.cancel, cancelTerminal)
  .onNotification(calls.session.cancel, ({ params }) => known(params.sessionId).turn.abort());
await serve(acp, agent, import.meta);
