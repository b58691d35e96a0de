// What the agents share: the official SDK, from where set-up puts it, and how they are served.
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(new URL("../../.cache/peers/package.json", import.meta.url));

/** An entry of the SDK, such as "@agentclientprotocol/sdk". */
export const load = (entry) => import(pathToFileURL(require.resolve(entry)));

/** The clients of `served.mjs`: the two streams of each, by the address of the agent that it has for itself. */
export const clients = new Map();

/** Serves a client until it leaves: over stdio when the module is the program, or one of `clients`. */
export async function serve(acp, agent, { url }) {
  if (process.argv[1] === fileURLToPath(url)) clients.set(url, { input: process.stdin, output: process.stdout });
  if (!clients.has(url)) return; // only imported
  const { input, output } = clients.get(url);
  await agent.connect(acp.ndJsonStream(Writable.toWeb(output), Readable.toWeb(input))).closed;
}

export { pause };

/** Options of a request that is withdrawn soon (`$/cancel_request`); its answer is still waited for. */
export function withdrawal() {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  return { cancellationSignal: controller.signal };
}

/** Runs `step` every few milliseconds until the signal is given. */
export async function until(signal, step) {
  while (!signal.aborted) {
    await step();
    await pause(5);
  }
}

/** All text of a prompt. */
export const promptText = (blocks) =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");

/** What an agent says about the kinds of what it was given beside text. */
export const promptKinds = (blocks) => blocks.map((block) => block.type).join(", ");

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/** Every kind of content block. */
export const BLOCKS = [
  { type: "text", text: "all **done**" },
  { type: "image", data: PNG, mimeType: "image/png", uri: "file:///picture.png" },
  { type: "audio", data: WAV, mimeType: "audio/wav" },
  { type: "resource_link", uri: "file:///manual.md", name: "manual.md", title: "The manual", size: 12 },
  { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "embedded text" } },
  { type: "resource", resource: { uri: "file:///b.bin", mimeType: "application/x-b", blob: "AAEC" } },
];

/** The four kinds of answers to a permission. */
export const OPTIONS = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Never allow", kind: "reject_always" },
];

/** A conversation that was kept from an earlier run. */
/** A form with each kind of field. */
const FORM = {
  type: "object",
  title: "Details",
  properties: {
    name: { type: "string", title: "Name", minLength: 2, maxLength: 20, pattern: "^[A-Z]" },
    mail: { type: "string", format: "email" },
    count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    ratio: { type: "number", minimum: 0, maximum: 1 },
    sure: { type: "boolean", default: false },
    colour: { type: "string", enum: ["red", "green"], default: "red" },
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] },
    tags: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["a", "b", "c"] } },
    more: { type: "array", items: { anyOf: [{ const: "x", title: "The x" }] }, default: ["x"] },
  },
  required: ["name", "tags"],
};

/** Has the user fill in a form, and open a page: what was answered, in words. */
export async function questions(ctx, { create, complete }, sessionId) {
  const form = { sessionId, mode: "form", message: "Tell me more.", requestedSchema: FORM };
  const filled = await ctx.client.request(create, form);
  const page = { sessionId, mode: "url", message: "Sign in there.", url: "https://example.org/in", elicitationId: "p1" };
  const opened = await ctx.client.request(create, page);
  await ctx.client.notify(complete, { elicitationId: "p1" });
  return `${filled.action} ${JSON.stringify(filled.content ?? null)}, then ${opened.action}`;
}

export const KEPT = { sessionId: "kept", title: "An older conversation", updatedAt: "2026-01-02T03:04:05Z" };
