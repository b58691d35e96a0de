// Serves many clients in one process: `node served.mjs AGENT SOCKET`. Loading the SDK takes longer than a test.
// Each client of the socket has an agent module, and so a state, of its own; its first line is its directory.
import net from "node:net";
import { clients } from "./sdk.mjs";

const [script, path] = process.argv.slice(2);
let counted = 0;

async function serve(socket) {
  const cwd = await new Promise((resolve) => {
    let first = "";
    socket.on("readable", function read() {
      for (let byte = socket.read(1); byte !== null; byte = socket.read(1)) {
        if (byte.toString() === "\n") {
          socket.off("readable", read);
          resolve(Buffer.from(first, "latin1").toString());
          return;
        }
        first += byte.toString("latin1");
      }
    });
  });
  process.chdir(cwd);
  const url = new URL(`./${script}?${++counted}`, import.meta.url).href;
  clients.set(url, { input: socket, output: socket });
  await import(url); // until the client leaves
  clients.delete(url);
  socket.destroy();
}

net.createServer(serve).listen(path);
