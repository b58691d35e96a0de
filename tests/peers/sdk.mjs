// What the agents share: the official SDK, from where set-up puts it, and how they are served.
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(new URL("../../.cache/peers/package.json", import.meta.url));

/** An entry of the SDK, such as "@agentclientprotocol/sdk". */
export const load = (entry) => import(pathToFileURL(require.resolve(entry)));

/** Serves a client over stdio until it leaves, when the module is the program and was not only imported. */
export async function serve(acp, agent, { url }) {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const stdio = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
  await agent.connect(stdio).closed;
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
export const KEPT = { sessionId: "kept", title: "An older conversation", updatedAt: "2026-01-02T03:04:05Z" };
