import type { BinaryNode } from "baileys";
import { detachListeners } from "../baileys-fixes/detach-listeners.ts";
import type { BaileysSocket } from "../baileys-socket.ts";
import { KeyedMutex } from "../keys/keyed-mutex.ts";

export const SERVER = "s.whatsapp.net";

const NOTIFICATION = "CB:notification";
const MOST_QUEUED = 200;

/** WhatsApp answered a query with an error. */
export class QueryRejectedError extends Error {
  override readonly name = "QueryRefused";
  /** As in HTTP; 0 when WhatsApp names none. */
  readonly code: number;
  /** WhatsApp's word for it, such as `bad-request`. */
  readonly text: string;

  constructor(answer: BinaryNode) {
    const error = childOf(answer, "error");
    const code = Number(error?.attrs.code) || 0;
    const text = (error?.attrs.text ?? "").slice(0, 200);
    super(`WhatsApp refused a query of the pairing: ${code} ${text}`.trim());
    this.code = code;
    this.text = text;
  }
}

/** No answer came in time, or the connection ended before. */
export class QueryTimeoutError extends Error {
  override readonly name = "QueryUnanswered";
}

export interface RegistrationStreamOptions {
  socket: BaileysSocket;
  /** For the answer to a query. */
  queryMs: number;
  /** Of work that was given to `inOrder`. */
  onFailure(error: unknown): void;
}

/**
 * The stanzas of a connection that no phone has linked yet. Takes all notifications over from Baileys, which acknowledges
 * none of them before it has an identity.
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

  /** Notifications of WhatsApp itself with this type, one after the other; `handle` acknowledges them. */
  onNotification(type: string, handle: (notification: BinaryNode) => Promise<void>): void {
    this.#handles.set(type, handle);
  }

  /** Takes an event over from Baileys; `handle` runs in its turn. */
  onStanza(event: string, handle: (stanza: BinaryNode) => Promise<void>): void {
    const { ws } = this.#options.socket.sock;
    detachListeners(ws, event);
    ws.on(event, (node: BinaryNode) => this.inOrder(() => handle(node)));
  }

  /**
   * Runs after everything that came before. Resolves with undefined when the connection has ended by then, or the work
   * failed. Must not wait for a person.
   */
  async inOrder<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
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

  /** Resolves when all work that was given to `inOrder` has ended; once the connection is over, none begins any more. */
  async drained(): Promise<void> {
    await this.#works.run("", async () => {});
  }

  async send(stanza: BinaryNode): Promise<void> {
    await this.#options.socket.sock.sendNode(stanza);
  }

  /** Call it once everything that the notification changes is durable. */
  acknowledge({ tag, attrs }: BinaryNode): Promise<void> {
    const { id = "", from = SERVER, type } = attrs;
    return this.send({
      tag: "ack",
      attrs: { id, to: from, class: tag, ...(type !== undefined && { type }) },
    });
  }

  /** Resolves with the result. Throws QueryRefused, or QueryUnanswered. */
  async query(iq: BinaryNode, timeoutMs = this.#options.queryMs): Promise<BinaryNode> {
    const { sock, closed } = this.#options.socket;
    const id = sock.generateMessageTag();
    const event = `TAG:${id}`;
    let stop = () => {};
    const answer = new Promise<BinaryNode>((resolve, reject) => {
      const fail = (message: string) => reject(new QueryTimeoutError(message));
      const timer = setTimeout(fail, timeoutMs, "WhatsApp did not answer in time.");
      void closed.then(() => fail("The connection ended before the answer."));
      sock.ws.on(event, resolve);
      stop = () => {
        clearTimeout(timer);
        sock.ws.off(event, resolve);
      };
    });
    try {
      // A connection that breaks may fail to send and end the wait at once.
      const sending = this.send({ ...iq, attrs: { ...iq.attrs, id, to: SERVER } });
      const [node] = await Promise.all([answer, sending]);
      if (node.attrs.type === "error") throw new QueryRejectedError(node);
      return node;
    } finally {
      stop();
    }
  }

  #notified(notification: BinaryNode): void {
    const { from, type = "" } = notification.attrs;
    const handle = this.#handles.get(type);
    if (from === SERVER && handle) void this.inOrder(() => handle(notification));
  }
}

export function childOf({ content }: BinaryNode, tag: string): BinaryNode | undefined {
  return Array.isArray(content) ? content.find((child) => child.tag === tag) : undefined;
}

/** The bytes of a node, undefined when there are fewer or more than that. */
export function bytesOf(node: BinaryNode | undefined, least: number, most: number): Buffer | undefined {
  const content = node?.content;
  if (content === undefined || Array.isArray(content)) return undefined;
  if (content.length < least || content.length > most) return undefined;
  return typeof content === "string" ? Buffer.from(content) : Buffer.from(content);
}
