import type { BinaryNode } from "baileys";
import type { BaileysSocket } from "../connection/baileys-socket.ts";
import { detachListeners } from "../stanzas/detach-listeners.ts";
import { KeyedMutex } from "../stanzas/keyed-mutex.ts";

export const SERVER = "s.whatsapp.net";

const NOTIFICATION = "CB:notification";
const MOST_QUEUED = 200;

/** WhatsApp responded to a query with an error. */
export class QueryRejectedError extends Error {
  override readonly name = "QueryRejectedError";
  /** As in HTTP; 0 when WhatsApp names none. */
  readonly code: number;
  /** WhatsApp's text for it, such as `bad-request`. */
  readonly text: string;

  constructor(response: BinaryNode) {
    const error = childOf(response, "error");
    const code = Number(error?.attrs.code) || 0;
    const text = (error?.attrs.text ?? "").slice(0, 200);
    super(`WhatsApp refused a query of the pairing: ${code} ${text}`.trim());
    this.code = code;
    this.text = text;
  }
}

/** No response arrived in time, or the connection ended first. */
export class QueryTimeoutError extends Error {
  override readonly name = "QueryTimeoutError";
}

export interface RegistrationStreamOptions {
  socket: BaileysSocket;
  /** Timeout for the response to a query. */
  queryMs: number;
  /** Receives failures of work that was passed to `enqueue`. */
  onFailure(error: unknown): void;
}

/**
 * The stanzas of a connection that no phone has linked yet. Replaces Baileys' handlers of notifications,
 * which acknowledge none before there is an identity.
 */
export class RegistrationStream {
  readonly #options: RegistrationStreamOptions;
  readonly #works = new KeyedMutex();
  readonly #handles = new Map<string, (notification: BinaryNode) => Promise<void>>();
  #queued = 0;

  constructor(options: RegistrationStreamOptions) {
    this.#options = options;
    const { ws } = options.socket.sock;
    detachListeners(ws, NOTIFICATION);
    ws.on(NOTIFICATION, (node: BinaryNode) => this.#notified(node));
  }

  /** Handles WhatsApp's own notifications of this type sequentially; `handle` acknowledges them. */
  onNotification(type: string, handle: (notification: BinaryNode) => Promise<void>): void {
    this.#handles.set(type, handle);
  }

  /** Replaces Baileys' handlers of an event; `handle` runs in order. */
  onStanza(event: string, handle: (stanza: BinaryNode) => Promise<void>): void {
    const { ws } = this.#options.socket.sock;
    detachListeners(ws, event);
    ws.on(event, (node: BinaryNode) => this.enqueue(() => handle(node)));
  }

  /**
   * Runs after all earlier work. Resolves with undefined if the connection has ended or the work failed. Must
   * not wait for user input.
   */
  async enqueue<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    const { socket, onFailure } = this.#options;
    if (this.#queued >= MOST_QUEUED) return undefined;
    this.#queued++;
    try {
      return await this.#works.run("", async () => (socket.isClosed() ? undefined : work()));
    } catch (error) {
      onFailure(error);
      return undefined;
    } finally {
      this.#queued--;
    }
  }

  /** Resolves when all work passed to `enqueue` has ended; once the connection has ended, none starts. */
  async whenIdle(): Promise<void> {
    await this.#works.run("", async () => {});
  }

  async send(stanza: BinaryNode): Promise<void> {
    await this.#options.socket.sock.sendNode(stanza);
  }

  /** Call it once all changes from the notification are durable. */
  acknowledge({ tag, attrs }: BinaryNode): Promise<void> {
    const { id = "", from = SERVER, type } = attrs;
    return this.send({
      tag: "ack",
      attrs: { id, to: from, class: tag, ...(type !== undefined && { type }) },
    });
  }

  /** Resolves with the result. Throws QueryRejectedError or QueryTimeoutError. */
  async query(iq: BinaryNode, timeoutMs = this.#options.queryMs): Promise<BinaryNode> {
    const { sock, closed } = this.#options.socket;
    const id = sock.generateMessageTag();
    const event = `TAG:${id}`;
    let stop = () => {};
    const response = new Promise<BinaryNode>((resolve, reject) => {
      const fail = (message: string) => reject(new QueryTimeoutError(message));
      const timer = setTimeout(fail, timeoutMs, "WhatsApp did not respond in time.");
      void closed.then(() => fail("The connection ended before the response."));
      sock.ws.on(event, resolve);
      stop = () => {
        clearTimeout(timer);
        sock.ws.off(event, resolve);
      };
    });
    try {
      // On a broken connection, the send may fail and the wait may end at the same time.
      const sending = this.send({ ...iq, attrs: { ...iq.attrs, id, to: SERVER } });
      const [node] = await Promise.all([response, sending]);
      if (node.attrs.type === "error") throw new QueryRejectedError(node);
      return node;
    } finally {
      stop();
    }
  }

  #notified(notification: BinaryNode): void {
    const { from, type = "" } = notification.attrs;
    const handle = this.#handles.get(type);
    if (from === SERVER && handle) void this.enqueue(() => handle(notification));
  }
}

export function childOf({ content }: BinaryNode, tag: string): BinaryNode | undefined {
  return Array.isArray(content) ? content.find((child) => child.tag === tag) : undefined;
}

/** The bytes of a node, undefined if their number is outside these limits. */
export function bytesOf(node: BinaryNode | undefined, least: number, most: number): Buffer | undefined {
  const content = node?.content;
  if (content === undefined || Array.isArray(content)) return undefined;
  if (content.length < least || content.length > most) return undefined;
  return typeof content === "string" ? Buffer.from(content) : Buffer.from(content);
}
