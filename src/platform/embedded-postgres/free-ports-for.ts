import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

// Below the range that systems use for outgoing connections.
const FIRST_PORT = 20_000;
const PORTS = 12_000;

/** Free ports on 127.0.0.1, always in the same order for the same name. */
export async function* freePortsFor(name: string): AsyncGenerator<number> {
  const first = createHash("sha256").update(name).digest().readUInt32BE() % PORTS;
  for (let i = 0; i < PORTS; i += 1) {
    const port = FIRST_PORT + ((first + i) % PORTS);
    if (await isFree(port)) yield port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
