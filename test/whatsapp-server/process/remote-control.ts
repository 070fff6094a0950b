import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { WhatsAppControl } from "../control.ts";
import type { WhatsAppServer } from "../server.ts";

const BYTES = "$bytes";

/** JSON with encoded bytes. */
const pack = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => {
    if (one instanceof Uint8Array) return { [BYTES]: Buffer.from(one).toString("base64") };
    const buffer = one as { type?: unknown; data?: unknown } | null;
    if (buffer?.type === "Buffer" && Array.isArray(buffer.data)) {
      return { [BYTES]: Buffer.from(buffer.data).toString("base64") };
    }
    return one;
  });

const unpack = (text: string): unknown =>
  JSON.parse(text, (_, one: Record<string, unknown> | null) =>
    typeof one?.[BYTES] === "string" ? Buffer.from(one[BYTES], "base64") : one,
  );

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

/** Serves the control over HTTP on loopback. */
export async function serveControl(
  server: WhatsAppServer,
  port = 0,
): Promise<{ url: string; close(): Promise<void> }> {
  const control = server.control as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const http = createServer(async (request, response) => {
    try {
      const { method, args } = unpack(await bodyOf(request)) as { method: string; args: unknown[] };
      const result = await control[method]?.(...args);
      response.end(pack({ result }));
    } catch (error) {
      response.writeHead(500).end(pack({ error: error instanceof Error ? error.message : String(error) }));
    }
  });
  await new Promise<void>((done) => http.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: async () => {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}

/** The control of a server in another process. Each method is one POST. */
export function connectControl(url: string): WhatsAppControl {
  const call = async (method: string, args: unknown[]): Promise<unknown> => {
    const response = await fetch(url, { method: "POST", body: pack({ method, args }) });
    const result = unpack(await response.text()) as { result?: unknown; error?: string };
    if (result.error !== undefined) throw new Error(result.error);
    return result.result;
  };
  const methods: ProxyHandler<WhatsAppControl> = {
    // An object with `then` would be treated as a promise.
    get: (_, method) =>
      typeof method === "string" && method !== "then"
        ? (...args: unknown[]) => call(method, args)
        : undefined,
  };
  return new Proxy({} as WhatsAppControl, methods);
}
