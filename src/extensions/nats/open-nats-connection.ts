import { connect, isIPv6, type Socket } from "node:net";
import type { TLSSocket, ConnectionOptions as TlsConnectOptions } from "node:tls";
import { JetStreamApiError, JetStreamError, jetstream } from "@nats-io/jetstream";
import { type ConnectionOptions, errors, headers as natsHeaders } from "@nats-io/nats-core";
import { NatsConnectionImpl, setTransportFactory } from "@nats-io/nats-core/internal";
import { NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";
import {
  type BrokerConnection,
  BrokerRefusal,
  LostConnectionError,
  ReceiveAllowance,
} from "../../core/webhooks/webhooks.ts";
import type { NatsAddress } from "./nats-address.ts";

/** Longer than any attempt, which has a deadline of its own. */
const REQUEST_MS = 10 * 60_000;
const CONNECT_MS = 10_000;

interface CheckedOptions extends ConnectionOptions {
  /** Where to dial, whatever the server says of its cluster. */
  checked: { ip: string; port: number; isSecure: boolean; allowance: ReceiveAllowance; signal: AbortSignal };
}

/**
 * Connects to the address that was checked. The client's own transport keeps its socket when a connection fails, and reads
 * without a limit.
 */
class CheckedTransport extends NodeTransport {
  get #checked(): CheckedOptions["checked"] {
    return (this.options as CheckedOptions).checked;
  }

  override dial(): Promise<Socket> {
    const { ip, port, allowance, signal } = this.#checked;
    const socket = connect({ host: ip, port, noDelay: true });
    this.socket = socket;
    allowance.watch(socket);
    signal.addEventListener("abort", () => this.socket?.destroy(), { once: true });
    return new Promise((resolve, reject) => {
      let failure: Error = new LostConnectionError();
      socket.on("error", (error) => {
        failure = error;
      });
      socket.on("close", () => reject(failure));
      socket.on("connect", () => {
        socket.removeAllListeners();
        resolve(socket);
      });
    });
  }

  override async startTLS(): Promise<TLSSocket> {
    const { isSecure, allowance } = this.#checked;
    if (!isSecure) throw new BrokerRefusal("the server requires TLS; write tls:// instead of nats://");
    const socket = await super.startTLS();
    allowance.watch(socket);
    return socket;
  }

  override async close(error?: Error): Promise<void> {
    await super.close(error);
    this.socket?.destroy();
  }
}

/** Opens a connection to a server at this address. Rejects with BrokerRefusal if it takes no user or password. */
export async function openNatsConnection(
  { port, isSecure, serverName, credentials }: NatsAddress,
  ip: string,
  signal: AbortSignal,
): Promise<BrokerConnection> {
  setTransportFactory({ factory: () => new CheckedTransport() });
  const allowance = new ReceiveAllowance();
  const options: CheckedOptions = {
    checked: { ip, port, isSecure, allowance, signal },
    servers: [isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`],
    ...(credentials && { user: credentials.user, pass: credentials.password }),
    tls: isSecure ? tlsOptions(serverName, ip) : null,
    reconnect: false,
    resolve: false,
    ignoreClusterUpdates: true,
    timeout: CONNECT_MS,
    name: "Waygate",
  };
  const connection = await NatsConnectionImpl.connect(options).catch(rethrowOpening);
  const stream = jetstream(connection, { timeout: REQUEST_MS });
  return {
    async publish({ topic, id, headers, body }) {
      allowance.extend(body.length);
      const sent = natsHeaders();
      for (const [name, value] of Object.entries(headers)) sent.set(name, value);
      await stream
        .publish(topic, body, { msgID: id, headers: sent, timeout: REQUEST_MS })
        .catch((error: unknown) => rethrowPublishing(error, topic));
    },
    isClosed: () => connection.isClosed(),
    close: () => void connection.close().catch(() => {}),
  };
}

/** The certificate is checked against the name of the address, or against a literal address. */
function tlsOptions(serverName: string | undefined, ip: string): ConnectionOptions["tls"] {
  const options: TlsConnectOptions = serverName === undefined ? { host: ip } : { servername: serverName };
  return options as ConnectionOptions["tls"];
}

function rethrowOpening(error: unknown): never {
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError)
    throw new BrokerRefusal(error.message);
  if (error instanceof errors.ConnectionError)
    throw /does not support 'tls'/.test(error.message)
      ? new BrokerRefusal("the server has no TLS; write nats:// instead of tls://")
      : (error.cause ?? new LostConnectionError());
  throw error;
}

function rethrowPublishing(error: unknown, topic: string): never {
  const cause = error instanceof errors.RequestError ? (error.cause ?? error) : error;
  // The client takes a subject without a stream for a server without JetStream.
  if (error instanceof Error && error.cause instanceof errors.RequestError && error.cause.isNoResponders())
    throw new BrokerRefusal(`no stream takes the subject ${topic}`);
  if (
    error instanceof JetStreamApiError ||
    error instanceof JetStreamError ||
    error instanceof errors.InvalidArgumentError ||
    cause instanceof errors.PermissionViolationError
  )
    throw new BrokerRefusal((cause as Error).message);
  const isLost =
    cause instanceof errors.ClosedConnectionError ||
    cause instanceof errors.ConnectionError ||
    cause instanceof errors.RequestError;
  throw isLost ? new LostConnectionError() : error;
}
