// An agent of both protocol versions: the SDK's router answers with the one that the client wants.
import { agent as v1 } from "./agent_v1.mjs";
import { agent as v2 } from "./agent_v2.mjs";
import { load, serve } from "./sdk.mjs";

const acp = await load("@agentclientprotocol/sdk/experimental/v2");
await serve(acp, acp.agentProtocolRouter().withV1(v1).withV2(v2), import.meta);
