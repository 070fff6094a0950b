import { decodeBinaryNode, encodeBinaryNode } from "baileys";
import type { WebSocket } from "ws";
import type { Companion } from "./companion.ts";
import type { ServerDisconnect } from "./control.ts";
import { type BinaryNode, node } from "./protocol/nodes.ts";
import { type ClientHello, type NoiseIdentity, NoiseServer } from "./protocol/noise.ts";
import type { SocketRecord } from "./protocol/records.ts";

export interface ConnectionListener {
  authenticated(connection: ServerConnection, client: ClientHello): void;
  stanza(connection: ServerConnection, stanza: BinaryNode): Promise<void>;
  closed(connection: ServerConnection): void;
  broken(connection: ServerConnection, error: unknown): void;
}

/** One client WebSocket: Noise frames and stanzas. */
export class ServerConnection {
  readonly record: SocketRecord;
  /** Undefined until the login is accepted. */
  companion: Companion | undefined;
  client: ClientHello | undefined;
  /** The client is active, so stanzas may be sent. */
  active = false;
  /** Neither reads nor writes. */
  silent = false;
  readonly #socket: WebSocket;
  readonly #noise: NoiseServer;
  readonly #listener: ConnectionListener;
  #work: Promise<void> = Promise.resolve();

  constructor(
    socket: WebSocket,
    identity: NoiseIdentity,
    record: SocketRecord,
    listener: ConnectionListener,
  ) {
    this.#socket = socket;
    this.#noise = new NoiseServer(identity);
    this.#listener = listener;
    this.record = record;
    socket.on("message", (data) => {
      this.#work = this.#work
        .then(() => this.#received(Buffer.isBuffer(data) ? data : Buffer.from(data as ArrayBuffer)))
        .catch((error) => listener.broken(this, error));
    });
    socket.on("close", () => listener.closed(this));
    socket.on("error", () => undefined);
  }

  get open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  send(stanza: BinaryNode): void {
    if (this.silent || !this.open || !this.client) return;
    this.#socket.send(this.#noise.frame(encodeBinaryNode(stanza)));
  }

  /** Sends the reason and closes. */
  end(stanza: BinaryNode, why: string): void {
    this.record.closed_by ??= why;
    this.send(stanza);
    this.silent = true;
    this.#socket.close();
  }

  /** Breaks the connection. */
  cut(why = "cut"): void {
    this.record.closed_by ??= why;
    this.silent = true;
    this.#socket.terminate();
  }

  async #received(data: Buffer): Promise<void> {
    if (this.silent) return;
    const before = this.client;
    const { plain, reply } = this.#noise.feed(data);
    for (const frame of reply) this.#socket.send(frame);
    if (!before && this.#noise.client) {
      this.client = this.#noise.client;
      this.#listener.authenticated(this, this.client);
    }
    for (const frame of plain) {
      const stanza = await decodeBinaryNode(frame);
      if (!this.silent) await this.#listener.stanza(this, stanza);
    }
  }
}

export const streamError = (code: number): BinaryNode => node("stream:error", { code });

export const replaced = (): BinaryNode => node("stream:error", {}, [node("conflict", { type: "replaced" })]);

export const removed = (): BinaryNode =>
  node("stream:error", { code: 401 }, [node("conflict", { type: "device_removed" })]);

export const loginFailure = (reason: number): BinaryNode =>
  node("failure", { reason, location: "test", ...(reason === 403 ? { message: "banned" } : {}) });

export function endConnection(connection: ServerConnection, how: ServerDisconnect): void {
  switch (how) {
    case "silent":
      connection.silent = true;
      break;
    case 401:
      connection.end(removed(), "401");
      break;
    case 403:
      connection.end(loginFailure(403), "403");
      break;
    case 428:
      connection.cut();
      break;
    case 440:
      connection.end(replaced(), "440");
      break;
    default:
      connection.end(streamError(how), String(how));
  }
}
