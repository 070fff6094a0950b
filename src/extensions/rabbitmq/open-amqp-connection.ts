import type { Socket } from "node:net";
import { type ChannelModel, type ConfirmChannel, connect, type Message } from "amqplib";
import {
  type BrokerConnection,
  type BrokerMessage,
  BrokerRefusal,
  LostConnectionError,
  ReceiveAllowance,
} from "../../core/webhooks/webhooks.ts";
import type { AmqpAddress } from "./amqp-address.ts";

const HEARTBEAT_SECONDS = 10;
/** Larger than any frame that a server sends to a client which only publishes. */
const MOST_FRAME_BYTES = 256 * 1024;

/** Opens a connection with one confirm channel. Rejects with BrokerRefusal if the server refuses user or virtual host. */
export async function openAmqpConnection(
  { isSecure, port, serverName, credentials, virtualHost, exchange }: AmqpAddress,
  ip: string,
  signal: AbortSignal,
): Promise<BrokerConnection> {
  const server = {
    protocol: isSecure ? "amqps" : "amqp",
    hostname: ip,
    port,
    ...(credentials && { username: credentials.user, password: credentials.password }),
    vhost: encodeURIComponent(virtualHost),
    heartbeat: HEARTBEAT_SECONDS,
    maxFrameSize: MOST_FRAME_BYTES,
  };
  const socket = { noDelay: true, signal, ...(serverName !== undefined && { servername: serverName }) };
  const model = await connect(server, socket).catch(rethrowOpening);
  let failure: Error | undefined;
  const fail = (error: Error) => {
    failure ??= error;
  };
  model.on("error", fail);
  const allowance = new ReceiveAllowance();
  allowance.watch((model.connection as unknown as { stream: Socket }).stream);
  const channel = await model.createConfirmChannel();
  channel.on("error", fail);
  let isClosed = false;
  const close = () => {
    isClosed = true;
  };
  channel.on("close", close);
  model.on("close", close);
  const publisher = new Publisher(channel, exchange, () => failure);
  return {
    publish(message) {
      allowance.extend(message.body.length);
      return publisher.publish(message);
    },
    isClosed: () => isClosed,
    close: () => end(model),
  };
}

/** A server that does not respond would keep the socket. */
function end(model: ChannelModel): void {
  const { stream } = model.connection as unknown as { stream: Socket };
  const destroy = () => void stream.destroy();
  const timer = setTimeout(destroy, 1_000).unref();
  model.close().then(
    () => clearTimeout(timer),
    () => stream.destroy(),
  );
}

class Publisher {
  readonly #channel: ConfirmChannel;
  readonly #exchange: string;
  readonly #failure: () => Error | undefined;
  /** Attempts whose message no queue takes: the server returns it before it confirms it. */
  readonly #returned = new Set<unknown>();

  constructor(channel: ConfirmChannel, exchange: string, failure: () => Error | undefined) {
    this.#channel = channel;
    this.#exchange = exchange;
    this.#failure = failure;
    channel.on("return", ({ properties }: Message) => void this.#returned.add(properties.correlationId));
  }

  publish({ topic, id, attemptId, headers, body }: BrokerMessage): Promise<void> {
    const { "content-type": contentType, ...others } = headers;
    const options = {
      persistent: true,
      mandatory: true,
      messageId: id,
      correlationId: attemptId,
      contentType,
      appId: "waygate",
      headers: others,
    };
    return new Promise((resolve, reject) => {
      this.#channel.publish(this.#exchange, topic, body, options, (error: Error | null) => {
        if (this.#returned.delete(attemptId))
          reject(new BrokerRefusal(`no queue takes the routing key ${topic}`));
        else if (error) reject(this.#explain(error));
        else resolve();
      });
    });
  }

  #explain(error: Error): Error {
    const failure = this.#failure();
    if (/nacked/.test(error.message)) return new BrokerRefusal("the server could not store it");
    // The server closes the channel with a code and its reason.
    return failure && "code" in failure && typeof failure.code === "number"
      ? new BrokerRefusal(failure.message)
      : new LostConnectionError();
  }
}

function rethrowOpening(error: unknown): never {
  const message = error instanceof Error ? error.message : "";
  const [, reason] = /^Handshake terminated by server: (.*)/.exec(message) ?? [];
  if (reason !== undefined) throw new BrokerRefusal(reason);
  if (/^Socket closed abruptly/.test(message)) throw new LostConnectionError();
  throw error;
}
