// An agent of protocol version 1, written with the official SDK; `whole_turn` shows each thing that it can say.
import path from "node:path";
import { BLOCKS, KEPT, load, OPTIONS, promptKinds, promptText, questions, serve, until, withdrawal } from "./sdk.mjs";

const acp = await load("@agentclientprotocol/sdk");
const { agent: calls, client } = acp.methods;

const text = (words) => ({ type: "text", text: words });
const cwd = process.cwd();

class Session {
  constructor(id, directory, title, said = []) {
    Object.assign(this, { id, cwd: directory, title, said, mode: "ask", model: "small", verbose: false, active: true });
    this.turn = new AbortController();
  }

  get modes() {
    const names = { ask: "Ask first", code: "Write code" };
    const availableModes = Object.entries(names).map(([id, name]) => ({ id, name, description: `${name}.` }));
    return { currentModeId: this.mode, availableModes };
  }

  get configOptions() {
    const groups = [
      { group: "fast", name: "Fast", options: [{ value: "small", name: "Small" }] },
      { group: "slow", name: "Slow", options: [{ value: "big", name: "Big", description: "Thinks longer." }] },
    ];
    return [
      { id: "model", name: "Model", category: "model", type: "select", currentValue: this.model, options: groups },
      { id: "verbose", name: "Verbose", type: "boolean", currentValue: this.verbose },
    ];
  }

  /** Tells the client, and remembers what belongs to the conversation. */
  async update(ctx, update) {
    if (/message|thought|tool_call|plan/.test(update.sessionUpdate)) this.said.push(update);
    await ctx.client.notify(client.session.update, { sessionId: this.id, update });
  }

  say(ctx, words, messageId) {
    return this.update(ctx, { sessionUpdate: "agent_message_chunk", messageId, content: text(words) });
  }
}

const sessions = new Map();
const add = (session) => sessions.set(session.id, session).get(session.id);
let counted = 0;
let signedIn = true;
let offered = {};

add(
  new Session(KEPT.sessionId, cwd, KEPT.title, [
    { sessionUpdate: "user_message_chunk", messageId: "k1", content: text("What is ") },
    { sessionUpdate: "user_message_chunk", messageId: "k1", content: text("this?") },
    { sessionUpdate: "agent_thought_chunk", messageId: "k2", content: text("A question.") },
    { sessionUpdate: "tool_call", toolCallId: "k3", title: "Look", kind: "read", status: "completed" },
    { sessionUpdate: "agent_message_chunk", messageId: "k4", content: text("A test.") },
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
    await until(signal, () => session.say(ctx, "tick ", "slow"));
    return "cancelled";
  },
  async fail() {
    throw new acp.RequestError(-32603, "Internal error", { details: "the provider is down" });
  },
  async ask(ctx, session, signal) {
    await permission(ctx, session, "ask-1");
    return signal.aborted ? "cancelled" : "end_turn";
  },
  async withdraw(ctx, session) {
    await permission(ctx, session, "ask-1", withdrawal());
    return "end_turn";
  },
  async state(ctx, session) {
    await session.say(ctx, `mode=${session.mode} model=${session.model} verbose=${session.verbose}`, "state");
    return "end_turn";
  },
  async questions(ctx, session) {
    await session.say(ctx, await questions(ctx, client.elicitation, session.id), "answers");
    return "end_turn";
  },
  async limit() {
    return "max_tokens";
  },
};

async function wholeTurn(ctx, session) {
  await session.say(ctx, "Let me ", "m1");
  await session.say(ctx, "look. ", "m1");
  for (const words of ["Hm, ", "where?"]) {
    await session.update(ctx, { sessionUpdate: "agent_thought_chunk", messageId: "t1", content: text(words) });
  }
  await plan(ctx, session);
  await toolCall(ctx, session);
  await facts(ctx, session);
  await permission(ctx, session, "call-2");
  await files(ctx, session);
  return "end_turn";
}

async function plan(ctx, session) {
  const statuses = [
    ["in_progress", "pending", "pending"],
    ["completed", "in_progress", "pending"],
  ];
  for (const [first, second, third] of statuses) {
    const entries = [
      { content: "Look", priority: "high", status: first },
      { content: "Think", priority: "medium", status: second },
      { content: "Write", priority: "low", status: third },
    ];
    await session.update(ctx, { sessionUpdate: "plan", entries });
  }
}

async function toolCall(ctx, session) {
  const call = { toolCallId: "call-1", title: "Edit notes.txt", kind: "edit" };
  const file = path.join(session.cwd, "notes.txt");
  await session.update(ctx, { sessionUpdate: "tool_call", ...call, status: "pending", rawInput: { file } });
  const locations = [{ path: file, line: 2 }];
  await session.update(ctx, { sessionUpdate: "tool_call_update", toolCallId: "call-1", status: "in_progress", locations });
  const content = [
    ...BLOCKS.map((block) => ({ type: "content", content: block })),
    { type: "diff", path: file, oldText: "second\n", newText: "the second\n" },
    { type: "diff", path: path.join(session.cwd, "new.txt"), newText: "new\n" },
    { type: "terminal", terminalId: "terminal-1" },
  ];
  await session.update(ctx, {
    sessionUpdate: "tool_call_update",
    toolCallId: "call-1",
    title: "Edited notes.txt",
    status: "completed",
    content,
    rawOutput: { changed: 1 },
  });
}

async function facts(ctx, session) {
  const availableCommands = [
    { name: "plan", description: "Make a plan", input: { hint: "of what" } },
    { name: "help", description: "Say what there is" },
  ];
  await session.update(ctx, { sessionUpdate: "available_commands_update", availableCommands });
  const cost = { amount: 0.25, currency: "USD" };
  await session.update(ctx, { sessionUpdate: "usage_update", used: 1200, size: 200000, cost });
  session.title = "About notes";
  await session.update(ctx, { sessionUpdate: "session_info_update", title: session.title });
  session.model = "big";
  await session.update(ctx, { sessionUpdate: "config_option_update", configOptions: session.configOptions });
  session.mode = "code";
  await session.update(ctx, { sessionUpdate: "current_mode_update", currentModeId: session.mode });
  if (offered.session?.notices) {
    const notice = { severity: "warning", title: "Slow today", description: "The provider is busy." };
    await session.update(ctx, { sessionUpdate: "notice", ...notice });
  }
  if (offered.session?.compaction) {
    const compaction = { sessionUpdate: "compaction_update", compactionId: "c1" };
    await session.update(ctx, { ...compaction, status: "in_progress" });
    const content = text("They spoke of notes.");
    await session.update(ctx, { sessionUpdate: "compaction_summary_chunk", compactionId: "c1", content });
    await session.update(ctx, { ...compaction, status: "completed" });
  }
  await session.update(ctx, { sessionUpdate: "_peer_mood", mood: "good" });
}

async function permission(ctx, session, toolCallId, options = {}) {
  const toolCall = { toolCallId, title: "Delete notes.txt", kind: "delete", status: "pending" };
  toolCall.content = [{ type: "content", content: text("rm notes.txt") }];
  const request = { sessionId: session.id, toolCall, options: OPTIONS };
  const asking = ctx.client.request(client.session.requestPermission, request, options);
  const { outcome } = await asking.catch((error) => {
    if (error.code !== -32800) throw error; // which is one way to answer what was withdrawn
    return { outcome: { outcome: "cancelled" } };
  });
  const words = outcome.outcome === "selected" ? `You chose ${outcome.optionId}. ` : "You chose nothing. ";
  await session.say(ctx, words, `answer-${toolCallId}`);
}

async function files(ctx, session) {
  const at = { sessionId: session.id, path: path.join(session.cwd, "notes.txt") };
  const whole = await ctx.client.request(client.fs.readTextFile, at);
  const line = await ctx.client.request(client.fs.readTextFile, { ...at, line: 2, limit: 1 });
  await session.say(ctx, `It says ${JSON.stringify(whole.content)}, line 2 ${JSON.stringify(line.content)}. `, "m3");
  await ctx.client.request(client.fs.writeTextFile, { ...at, content: whole.content.replace("second", "2nd") });
  const written = { ...at, path: path.join(session.cwd, "written.txt"), content: "ünïcödé\n" };
  await ctx.client.request(client.fs.writeTextFile, written);
  await session.say(ctx, "Written.", "m3");
}

async function prompt(ctx) {
  const session = known(ctx.params.sessionId);
  const words = promptText(ctx.params.prompt);
  for (const content of ctx.params.prompt) session.said.push({ sessionUpdate: "user_message_chunk", content });
  session.turn = new AbortController();
  if (ctx.params.prompt.length > 1) {
    await session.say(ctx, `You gave ${promptKinds(ctx.params.prompt)}. `, "given");
  }
  return { stopReason: await (TURNS[words] ?? wholeTurn)(ctx, session, session.turn.signal) };
}

// --- sessions -------------------------------------------------------------------------------------------------------

function initialize({ params }) {
  offered = params.clientCapabilities ?? {};
  return {
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "peer-v1", title: "A peer", version: "1.2.3" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      auth: { logout: {} },
    },
    authMethods: [{ id: "agent-login", name: "Sign in", description: "In this agent." }],
  };
}

function create({ params }) {
  if (!signedIn) throw acp.RequestError.authRequired();
  const session = add(new Session(`session-${++counted}`, params.cwd, null));
  return { sessionId: session.id, modes: session.modes, configOptions: session.configOptions };
}

function takeUp({ params }) {
  const session = known(params.sessionId, false);
  session.active = true;
  return session;
}

async function loadSession(ctx) {
  const session = takeUp(ctx);
  for (const update of session.said) {
    await ctx.client.notify(client.session.update, { sessionId: session.id, update });
  }
  return { modes: session.modes, configOptions: session.configOptions };
}

function resume(ctx) {
  const session = takeUp(ctx);
  return { modes: session.modes, configOptions: session.configOptions };
}

/** One session a page; those of an earlier run first. */
function list({ params }) {
  const all = [...sessions.values()].filter((one) => !params.cwd || one.cwd === params.cwd);
  const page = Number(params.cursor ?? 0);
  const shown = all.slice(page, page + 1).map(({ id, cwd: directory, title }) => ({
    sessionId: id,
    cwd: directory,
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
  const fits = { model: ["small", "big"], verbose: [true, false] }[configId]?.includes(value);
  if (!fits) throw acp.RequestError.invalidParams({ configId });
  session[configId] = value;
  return { configOptions: session.configOptions };
}

export const agent = acp
  .agent({ name: "peer-v1" })
  .onRequest(calls.initialize, initialize)
  .onRequest(calls.authenticate, () => void (signedIn = true))
  .onRequest(calls.logout, () => void (signedIn = false))
  .onRequest(calls.session.new, create)
  .onRequest(calls.session.load, loadSession)
  .onRequest(calls.session.resume, resume)
  .onRequest(calls.session.list, list)
  .onRequest(calls.session.close, close)
  .onRequest(calls.session.delete, ({ params }) => void sessions.delete(known(params.sessionId, false).id))
  .onRequest(calls.session.setMode, ({ params }) => void (known(params.sessionId).mode = params.modeId))
  .onRequest(calls.session.setConfigOption, setConfigOption)
  .onRequest(calls.session.prompt, prompt)
  .onNotification(calls.session.cancel, ({ params }) => known(params.sessionId).turn.abort());
await serve(acp, agent, import.meta);
