import { once } from "node:events";
import { connect, type Socket } from "node:net";

const ANSWER_WITHIN_MS = 60_000;

export interface RawHead {
  method?: string;
  path?: string;
  headers?: readonly string[];
}

/** The head of a request, including what HTTP clients refuse to send. */
export function headOf({ method = "GET", path = "/", headers = [] }: RawHead): string {
  return `${[`${method} ${path} HTTP/1.1`, "host: gateway", ...headers].join("\r\n")}\r\n\r\n`;
}

export function requestOf(head: RawHead, body: Buffer): Buffer {
  const headers = [...(head.headers ?? []), `content-length: ${body.length}`, "connection: close"];
  return Buffer.concat([Buffer.from(headOf({ ...head, headers }), "latin1"), body]);
}

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Status for these bytes on a new connection; 0 if it was closed or timed out without a response. */
export async function statusOf(url: string, bytes: Buffer): Promise<number> {
  const socket = await openSocket(url);
  socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
  let head = "";
  socket.on("data", (piece: Buffer) => {
    if (head.length < 64) head += piece.toString("latin1").slice(0, 64);
  });
  socket.write(bytes);
  // A server may close before the body is written; the response may still be there.
  await once(socket, "close").catch(() => {});
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
}
