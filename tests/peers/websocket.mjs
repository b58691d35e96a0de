// Serves `agent_v1.mjs` behind a WebSocket at /acp, as the SDK does (a draft of the protocol); says on which port.
import { createServer } from "node:http";
import { agent } from "./agent_v1.mjs";
import { load } from "./sdk.mjs";

const { AcpServer } = await load("@agentclientprotocol/sdk/experimental/server");
const { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } = await load(
  "@agentclientprotocol/sdk/experimental/node",
);
const { WebSocketServer } = (await load("ws")).default;

const acp = new AcpServer({ agent });
const server = createServer(createNodeHttpHandler(acp));
server.on("upgrade", createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true })));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
