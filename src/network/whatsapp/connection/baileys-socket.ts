import { makeWASocket, type SignalKeyStore, type SocketConfig, type WASocket } from "baileys";
import type { ClientVersion } from "../../client-version.ts";
import { catchListenerFailures } from "../baileys-fixes/catch-listener-failures.ts";
import { withPooledStorages } from "../baileys-fixes/patch-async-local-storage.ts";
import { silentBaileysLogger } from "../baileys-fixes/silent-baileys-logger.ts";
import type { BaileysCredentials } from "../keys/baileys-credentials.ts";
import type { SessionTransport } from "../session-transport.ts";
import type { WhatsAppRuntime } from "./whatsapp-runtime.ts";

/** Why a connection ended: the network's code, or our own if it sent none. */
export interface SocketClose {
  code: number;
  detail: string;
  /** The version with which the connection logged in. */
  version?: ClientVersion;
}

export const TIMED_OUT_CODE = 408;
export const CONNECTION_LOST_CODE = 428;

export interface BaileysSocket {
  sock: WASocket;
  /** The version with which the connection logs in; absent: the one of Baileys. */
  version: ClientVersion | undefined;
  /** Resolves once, with the reason why the socket is closed. */
  closed: Promise<SocketClose>;
  isClosed(): boolean;
  /** Closes the socket without waiting for the other side. */
  end(close: SocketClose): void;
}

export interface BaileysSocketOptions {
  runtime: WhatsAppRuntime;
  creds: BaileysCredentials;
  keys: SignalKeyStore;
  transport: SessionTransport;
  markOnline?: boolean;
  config?: Partial<SocketConfig>;
}

/** A Baileys socket that always ends, even if the network does not respond or responds with plain HTTP. */
export function openBaileysSocket({
  runtime,
  creds,
  keys,
  transport,
  markOnline,
  config,
}: BaileysSocketOptions): BaileysSocket {
  const { timing, url } = runtime;
  const version = runtime.versions?.current();
  const sock = withPooledStorages(() =>
    makeWASocket({
      ...(url !== undefined && { waWebSocketUrl: url }),
      auth: { creds, keys },
      logger: silentBaileysLogger,
      emitOwnEvents: false,
      markOnlineOnConnect: markOnline ?? false,
      syncFullHistory: false,
      generateHighQualityLinkPreview: false,
      connectTimeoutMs: timing.connectMs,
      keepAliveIntervalMs: timing.pingMs,
      // The key store retries by itself; a write that it abandons must not be retried.
      transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
      ...(version && { version: [...version] }),
      ...transportConfig(transport),
      ...runtime.socket,
      ...config,
    }),
  );
  const { closed, isClosed, end } = watchEnd(sock, version);
  catchListenerFailures(sock, (error) =>
    end({ code: CONNECTION_LOST_CODE, detail: `a stanza could not be handled: ${error}` }),
  );
  sock.ws.on("unexpected-response", (_: unknown, response: { statusCode?: number } | undefined) =>
    end({
      code: CONNECTION_LOST_CODE,
      detail: `HTTP ${response?.statusCode ?? "answer"} in place of a connection`,
    }),
  );
  return { sock, version, closed, isClosed, end };
}

function transportConfig({ agent, fetchAgent, options }: SessionTransport): Partial<SocketConfig> {
  return { ...(agent && { agent }), fetchAgent, options };
}

function watchEnd(
  sock: WASocket,
  version?: ClientVersion,
): Pick<BaileysSocket, "closed" | "isClosed" | "end"> {
  let resolveClosed: (close: SocketClose) => void = () => {};
  let isOver = false;
  const closed = new Promise<SocketClose>((resolve) => {
    resolveClosed = resolve;
  });
  sock.ev.on("connection.update", ({ connection, lastDisconnect }) => {
    if (connection === "close") resolveClosed({ ...closeOf(lastDisconnect?.error), version });
  });
  void closed.then(() => {
    isOver = true;
  });
  const end = (close: SocketClose): void => {
    resolveClosed(close);
    // Baileys would wait for the other side's close frame, which a dead socket never sends.
    void sock.end(undefined).catch(() => {});
    setImmediate(() => terminate(sock));
  };
  return { closed, isClosed: () => isOver, end };
}

function terminate({ ws }: WASocket): void {
  const { socket } = ws as unknown as { socket?: { terminate(): void } | null };
  socket?.terminate();
}

function closeOf(error: Error | undefined): SocketClose {
  const { output } = (error ?? {}) as { output?: { statusCode?: number } };
  return { code: output?.statusCode ?? CONNECTION_LOST_CODE, detail: error?.message ?? "connection closed" };
}
