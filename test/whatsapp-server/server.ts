/**
 * A WhatsApp Web server on loopback, for tests. Use:
 *
 *   const server = await startWhatsAppServer();          // or in a process of its own: main.ts, remote-control.ts
 *   const { control } = server;
 *   const phone = await control.addPerson();              // the phone to link with, and everybody else
 *   const ana = await control.addPerson({ name: "Ana" });
 *   // the client connects to server.url, trusting server.rootKeyHex, and shows a QR
 *   await control.scan(phone.phone, qr);
 *   const id = await control.sendMessage(ana.phone, phone.phone, "Oi");
 *   await control.seen(ana.phone);                        // what Ana's phone decrypted, receipts, presence ...
 *   await control.fault({ fault: "ack_error", error: 463 });
 *   expect(await control.unhandled()).toEqual([]);
 *   await server.close();
 *
 * For files the client must trust `server.caFile` (NODE_EXTRA_CA_CERTS, or an agent with that CA).
 * All of the control: control.ts.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { describe, handleMessage } from "./client-message.ts";
import { handleReceipt } from "./client-receipt.ts";
import type { Companion } from "./companion.ts";
import { type ConnectionListener, loginFailure, ServerConnection, streamError } from "./connection.ts";
import type { Settings, WhatsAppControl } from "./control.ts";
import { LocalControl } from "./local-control.ts";
import { logIn } from "./login.ts";
import { startMedia } from "./media-server.ts";
import { ServerMediaStore } from "./media-store.ts";
import { Network } from "./network.ts";
import { Candidates } from "./pairing/candidates.ts";
import { handleChatState, handlePhoneCall, handlePresence } from "./phone/presence.ts";
import { type BinaryNode, children } from "./protocol/nodes.ts";
import { makeNoiseRoot, type NoiseRoot } from "./protocol/noise.ts";
import { handleQuery } from "./queries/queries.ts";

export interface WhatsAppServer {
  /** URL for the client: `ws://127.0.0.1:port/ws/chat`. */
  url: string;
  /** Public key of the Noise certificate's root. */
  rootKeyHex: string;
  /** PEM of the authority for file downloads. */
  caFile: string;
  control: WhatsAppControl;
  close(): Promise<void>;
}

export type ServerOptions = Partial<Settings> & { port?: number };

export async function startWhatsAppServer(options: ServerOptions = {}): Promise<WhatsAppServer> {
  const { port = 0, ...settings } = options;
  const network = new Network(new ServerMediaStore());
  const candidates = new Candidates(network);
  const root = makeNoiseRoot();
  const media = await startMedia(network);
  const { http, drop } = makeHttp(network, candidates, root);
  const door = new Door(http, port);
  await door.open();
  const control = new LocalControl(network, candidates, (open) => (open ? door.open() : door.shut()));
  await control.settings(settings);
  return {
    url: `ws://127.0.0.1:${door.port}/ws/chat`,
    rootKeyHex: Buffer.from(root.publicKey).toString("hex"),
    caFile: media.caFile,
    control,
    close: async () => {
      const shut = door.shut();
      drop();
      await Promise.all([shut, media.close()]);
    },
  };
}

/** The listening socket, which keeps its port when it is closed and reopened. */
class Door {
  readonly #http: Server;
  port: number;

  constructor(http: Server, port: number) {
    this.#http = http;
    this.port = port;
  }

  async open(): Promise<void> {
    if (this.#http.listening) return;
    await new Promise<void>((done) => this.#http.listen(this.port, "127.0.0.1", done));
    this.port = (this.#http.address() as AddressInfo).port;
  }

  /** Does not wait for open connections. */
  async shut(): Promise<void> {
    this.#http.close();
  }
}

/** `drop` breaks all open connections. */
function makeHttp(network: Network, candidates: Candidates, root: NoiseRoot): { http: Server; drop(): void } {
  const otherRoot = makeNoiseRoot();
  const sockets = new WebSocketServer({ noServer: true });
  const listener = listenerOf(network, candidates);
  const hanging = new Set<Duplex>();
  const http = createServer((_, response) => response.writeHead(404).end());
  const accept = (socket: WebSocket): void => {
    if (network.faults.take("no_hello", undefined)) return;
    const identity = network.faults.take("untrusted_root", undefined) ? otherRoot.identity : root.identity;
    network.connections.add(new ServerConnection(socket, identity, network.book.socket(), listener));
  };
  http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const fault = network.faults.take("upgrade", undefined);
    socket.on("error", () => undefined);
    if (fault?.status === "never") hanging.add(socket);
    else if (fault)
      socket.end(`HTTP/1.1 ${fault.status} Ordered\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    else sockets.handleUpgrade(request, socket, head, accept);
  });
  const drop = (): void => {
    for (const connection of network.connections) connection.cut("the server stops");
    for (const socket of [...sockets.clients]) socket.terminate();
    for (const socket of hanging) socket.destroy();
    http.closeAllConnections();
  };
  return { http, drop };
}

function listenerOf(network: Network, candidates: Candidates): ConnectionListener {
  return {
    authenticated(connection, client) {
      const { primary, secondary, tertiary } = client.payload.userAgent?.appVersion ?? {};
      connection.record.version = `${primary}.${secondary}.${tertiary}`;
      if (Number(tertiary) < network.settings.oldestRevision) connection.end(loginFailure(405), "too old");
      else if (client.payload.devicePairingData) candidates.opened(connection, client);
      else logIn(network, connection, client);
    },
    async stanza(connection, stanza) {
      if (connection.companion) await handleStanza(network, connection, connection.companion, stanza);
      else await candidates.stanza(connection, stanza);
    },
    closed(connection) {
      network.book.closed(connection.record);
      network.connections.delete(connection);
      candidates.closed(connection);
      if (connection.companion?.connection === connection) connection.companion.connection = undefined;
    },
    broken(connection, error) {
      network.book.unhandled.push(`socket ${connection.record.socket}: ${String(error)}`);
      connection.end(streamError(500), String(error));
    },
  };
}

/** A stanza of a logged-in device. */
async function handleStanza(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  stanza: BinaryNode,
): Promise<void> {
  const { tag, attrs } = stanza;
  network.book.stanza(companion.person.phone, tag === "iq" && attrs.xmlns ? `iq:${attrs.xmlns}` : tag);
  switch (tag) {
    case "iq":
      return handleQuery(network, connection, companion, stanza);
    case "message":
      return handleMessage(network, connection, companion, stanza);
    case "receipt":
      return handleReceipt(network, connection, companion, stanza);
    case "ack": {
      const { class: kind = "", id = "", to = "", participant, type, error } = attrs;
      network.book.ack({ phone: companion.person.phone, class: kind, id, to, participant, type, error });
      return companion.acknowledged(attrs);
    }
    case "presence":
      return handlePresence(network, companion, stanza);
    case "chatstate":
      return handleChatState(network, companion, stanza);
    case "call":
      return handlePhoneCall(network, connection, companion, stanza);
    case "ib": {
      const [first] = children(stanza);
      if (first?.tag === "unified_session") return;
      if (first?.tag === "offline_batch") return companion.sendBatch(Number(first.attrs.count));
    }
  }
  network.book.unhandled.push(describe(stanza));
}
