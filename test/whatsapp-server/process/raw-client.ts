import {
  type BaileysEventMap,
  type BinaryNode,
  BufferJSON,
  initAuthCreds,
  makeWASocket,
  type SignalDataTypeMap,
  type SignalKeyStore,
  type UserFacingSocketConfig,
  type WAMessage,
} from "baileys";
import { quietLog } from "../protocol/silence-log.ts";
import type { WhatsAppServer } from "../server.ts";

type Socket = ReturnType<typeof makeWASocket>;
type Update = Partial<BaileysEventMap["connection.update"]>;

function memoryKeys(): SignalKeyStore {
  const stored = new Map<string, unknown>();
  return {
    async get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
      const found: Record<string, SignalDataTypeMap[Type]> = {};
      for (const id of ids) {
        const value = stored.get(`${type} ${id}`);
        if (value === undefined) continue;
        found[id] = (
          type === "sender-key" ? repaired(value as Uint8Array) : value
        ) as SignalDataTypeMap[Type];
      }
      return found;
    },
    async set(data) {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) {
          if (value === null) stored.delete(`${type} ${id}`);
          else stored.set(`${type} ${id}`, value);
        }
      }
    },
  };
}

const repaired = (raw: Uint8Array): Uint8Array =>
  Buffer.from(JSON.stringify(JSON.parse(Buffer.from(raw).toString("utf8")), BufferJSON.replacer));

/** An unmodified Baileys client with keys in memory, which records its events. */
export class RawClient {
  readonly auth = { creds: initAuthCreds(), keys: memoryKeys() };
  readonly updates: Update[] = [];
  readonly upserts: { type: string; message: WAMessage }[] = [];
  readonly events: Partial<BaileysEventMap>[] = [];
  readonly acks: BinaryNode[] = [];
  readonly closes: number[] = [];
  readonly #server: WhatsAppServer;
  readonly #options: Partial<UserFacingSocketConfig>;
  #socket: Socket | undefined;

  constructor(server: WhatsAppServer, options: Partial<UserFacingSocketConfig> = {}) {
    this.#server = server;
    this.#options = options;
  }

  get socket(): Socket {
    if (!this.#socket) throw new Error("not connected yet");
    return this.#socket;
  }

  get qr(): string | undefined {
    return this.updates.findLast((one) => one.qr)?.qr;
  }

  get opened(): number {
    return this.updates.filter((one) => one.connection === "open").length;
  }

  texts(): string[] {
    return this.upserts.map(({ message }) => textOf(message)).filter((text) => text !== "");
  }

  /** With other options for this connection. */
  connect(options: Partial<UserFacingSocketConfig> = {}): Socket {
    const socket = makeWASocket({
      auth: this.auth,
      logger: quietLog,
      waWebSocketUrl: this.#server.url,
      emitOwnEvents: false,
      retryRequestDelayMs: 5,
      connectTimeoutMs: 30_000,
      ...this.#options,
      ...options,
    });
    this.#socket = socket;
    socket.ev.process((events) => {
      this.events.push(events);
      if (events["connection.update"]) this.#updated(events["connection.update"]);
      const upsert = events["messages.upsert"];
      for (const message of upsert?.messages ?? []) {
        this.upserts.push({ type: upsert?.type ?? "", message });
      }
    });
    socket.ws.on("CB:ack,class:message", (ack: BinaryNode) => this.acks.push(ack));
    return socket;
  }

  all<Name extends keyof BaileysEventMap>(name: Name): BaileysEventMap[Name][] {
    return this.events.flatMap((one) => (name in one ? [one[name] as BaileysEventMap[Name]] : []));
  }

  close(): void {
    this.#socket?.end(undefined);
  }

  #updated(update: Update): void {
    this.updates.push(update);
    if (update.connection !== "close") return;
    const error = update.lastDisconnect?.error as { output?: { statusCode?: number } } | undefined;
    this.closes.push(error?.output?.statusCode ?? 0);
  }
}

export const textOf = ({ message }: WAMessage): string =>
  message?.conversation ?? message?.extendedTextMessage?.text ?? message?.imageMessage?.caption ?? "";
