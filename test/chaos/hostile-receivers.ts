import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** A receiver that means no good, with its own ledger of connections. */
export interface HostileReceiver {
  name: string;
  url: string;
  /** Milliseconds that each connection stood until now, as seen from here. */
  connectionMs(): number[];
  /** Bytes that it could get rid of. */
  sent(): number;
  close(): Promise<void>;
}

interface Variant {
  name: string;
  scheme?: "http" | "https";
  /** What it does once a request has come; a TLS client never gets that far. */
  answer(socket: Socket): void;
}

const OK = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
const MIB = Buffer.alloc(1024 * 1024, "x");
const DRIP_MS = 100;

const VARIANTS: readonly Variant[] = [
  { name: "never answers", answer: () => {} },
  { name: "drips its headers", answer: (socket) => drip(socket, `${OK}x-slow: `, "a") },
  { name: "drips its body", answer: (socket) => drip(socket, `${OK}content-length: 100000\r\n\r\n`, "b") },
  {
    name: "answers with 500 MB",
    answer: (socket) => pour(socket, `${OK}content-length: 524288000\r\n\r\n`, 500),
  },
  { name: "answers with a gzip bomb", answer: bomb },
  {
    name: "answers with 10,000 headers",
    answer: (socket) =>
      void socket.write(`${OK}${"x-many: yes\r\n".repeat(10_000)}content-length: 0\r\n\r\n`),
  },
  {
    name: "floods with 1xx",
    answer: (socket) => drip(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)),
  },
  { name: "resets in the body", answer: breakOff },
  { name: "hangs in the TLS handshake", scheme: "https", answer: () => {} },
];

/** One of each kind. */
export function startHostileReceivers(): Promise<HostileReceiver[]> {
  return Promise.all(VARIANTS.map(startReceiver));
}

async function startReceiver({ name, scheme = "http", answer }: Variant): Promise<HostileReceiver> {
  const connections: { openedAt: number; closedAt?: number }[] = [];
  const sockets = new Set<Socket>();
  let gone = 0;
  const server: Server = createServer((socket) => {
    const connection: (typeof connections)[number] = { openedAt: performance.now() };
    connections.push(connection);
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      connection.closedAt = performance.now();
      gone += socket.bytesWritten;
      sockets.delete(socket);
    });
    socket.once("data", () => answer(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    name,
    connectionMs: () =>
      connections.map(({ openedAt, closedAt }) => (closedAt ?? performance.now()) - openedAt),
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    sent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, gone),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A little now and then, for ever. */
function drip(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), DRIP_MS);
  socket.once("close", () => clearInterval(timer));
}

/** As fast as the other side reads. */
function pour(socket: Socket, head: string, mebibytes: number): void {
  let left = mebibytes;
  socket.write(head);
  const more = (): void => {
    for (; left > 0; left -= 1) if (socket.destroyed || !socket.write(MIB)) break;
  };
  socket.on("drain", more);
  more();
}

/** 210 MB that travel as 200 KB. */
function bomb(socket: Socket): void {
  const body = BOMB;
  socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${body.byteLength}\r\n\r\n`);
  socket.write(body);
}
const BOMB = gzipSync(Buffer.alloc(210_000_000));

function breakOff(socket: Socket): void {
  socket.write(`${OK}content-length: 1000\r\n\r\nhalf`, () => socket.resetAndDestroy());
}
