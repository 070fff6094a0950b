/**
 * The server as a process: prints one line of JSON, `{ url, rootKeyHex, caFile, controlUrl }`, and runs until it gets
 * a signal or its standard input ends. `node dist/test/whatsapp-server/process/main.js [port] [control port]`.
 */

import { silenceConsole } from "../protocol/silence-log.ts";
import { startWhatsAppServer } from "../server.ts";
import { serveControl } from "./remote-control.ts";

silenceConsole();
const [port, controlPort] = process.argv.slice(2).map(Number);
const server = await startWhatsAppServer({ port: port ?? 0 });
const control = await serveControl(server, controlPort ?? 0);

async function stop(): Promise<void> {
  await control.close();
  await server.close();
  process.exit(0);
}

process.on("SIGTERM", () => void stop());
process.on("SIGINT", () => void stop());
process.stdin.on("end", () => void stop()).resume();
const { url, rootKeyHex, caFile } = server;
process.stdout.write(`${JSON.stringify({ url, rootKeyHex, caFile, controlUrl: control.url })}\n`);
