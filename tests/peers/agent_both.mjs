// An agent of both protocol versions: the SDK's router answers with the one that the client wants.
import { load, serve } from "./sdk.mjs";

const { search } = new URL(import.meta.url);
const { agent: v1 } = await import(`./agent_v1.mjs${search}`);
const { agent: v2 } = await import(`./agent_v2.mjs${search}`);
const acp = await load("@agentclientprotocol/sdk/experimental/v2");
await serve(acp, acp.agentProtocolRouter().withV1(v1).withV2(v2), import.meta);
