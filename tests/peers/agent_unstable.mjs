// An agent of protocol version 1 with what only the unstable schema has, written with the official SDK.
import { load, promptText, serve } from "./sdk.mjs";

const acp = await load("@agentclientprotocol/sdk/unstable");
const { agent: calls, client } = acp.methods;

const sessions = new Map();
const providers = new Map([["main", { apiType: "anthropic", baseUrl: "https://a.example.org" }]]);
let state = "unauthenticated";

function known({ sessionId }) {
  const session = sessions.get(sessionId);
  if (!session) throw acp.RequestError.resourceNotFound(sessionId);
  return session;
}

function initialize() {
  return {
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: "peer-unstable", version: "1.2.3" },
    agentCapabilities: {
      sessionCapabilities: { list: {}, title: {}, archive: {}, systemPrompt: { mode: { override: {} } } },
      auth: { status: {} },
      providers: {},
    },
    authMethods: [{ id: "agent-login", name: "Sign in" }],
  };
}

function create({ params }) {
  const sessionId = `session-${sessions.size + 1}`;
  sessions.set(sessionId, { sessionId, cwd: params.cwd, archived: false, prompt: params.systemPrompt });
  return { sessionId };
}

async function signIn(ctx) {
  state = "authenticated";
  await ctx.client.notify(client.auth.statusUpdate, status());
}

const status = () => ({ state, accounts: state === "authenticated" ? [{ label: "A peer's", active: true }] : [] });

function list({ params }) {
  const which = { include: () => true, only: (one) => one.archived }[params.archived] ?? ((one) => !one.archived);
  const shown = [...sessions.values()].filter(which);
  return { sessions: shown.map(({ prompt, ...session }) => session) };
}

function setTitle({ params }) {
  const title = params.title.trim();
  if (title === "") throw acp.RequestError.invalidParams({ title });
  known(params).title = title;
  return { title };
}

async function prompt(ctx) {
  const session = known(ctx.params);
  const tell = (update) => ctx.client.notify(client.session.update, { sessionId: session.sessionId, update });
  const entries = [{ content: "Look", priority: "high", status: "pending" }];
  for (const plan of [
    { type: "items", planId: "steps", entries },
    { type: "markdown", planId: "text", content: "# Plan" },
    { type: "file", planId: "file", uri: "file:///plan.md" },
  ]) {
    await tell({ sessionUpdate: "plan_update", plan });
  }
  await tell({ sessionUpdate: "plan_removed", planId: "steps" });
  const words = JSON.stringify({ system: session.prompt ?? null, text: promptText(ctx.params.prompt) });
  await tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } });
  return { stopReason: "end_turn", usage: { totalTokens: 12, inputTokens: 7, outputTokens: 4, thoughtTokens: 1 } };
}

function listProviders() {
  const supported = ["anthropic", "openai"];
  const all = ["main", "other"].map((providerId) => {
    return { providerId, supported, required: providerId === "main", current: providers.get(providerId) ?? null };
  });
  return { providers: all };
}

function setProvider({ params: { providerId, apiType, baseUrl } }) {
  providers.set(providerId, { apiType, baseUrl });
  return {};
}

export const agent = acp
  .agent({ name: "peer-unstable" })
  .onRequest(calls.initialize, initialize)
  .onRequest(calls.authenticate, signIn)
  .onRequest(calls.auth.status, status)
  .onRequest(calls.session.new, create)
  .onRequest(calls.session.list, list)
  .onRequest(calls.session.setTitle, setTitle)
  .onRequest(calls.session.archive, ({ params }) => void (known(params).archived = true))
  .onRequest(calls.session.unarchive, ({ params }) => void (known(params).archived = false))
  .onRequest(calls.session.prompt, prompt)
  .onRequest(calls.providers.list, listProviders)
  .onRequest(calls.providers.set, setProvider)
  .onRequest(calls.providers.disable, ({ params }) => void providers.delete(params.providerId));
await serve(acp, agent, import.meta);
