import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect as connectToNats } from "@nats-io/transport-node";
import { connect as connectToRabbit } from "amqplib";
import { type BrokerServer, startNatsServer, startRabbitServer } from "../servers/broker-server.ts";

/** A message as a consumer receives it. */
export interface BrokerDelivery {
  /** Subject or routing key. */
  topic: string;
  id: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** A running broker with a stream or queue, and what a consumer reads there. */
export interface BrokerStory {
  readonly server: BrokerServer;
  /** URL for a webhook. */
  readonly url: string;
  /** The URL with another user, host or target. */
  addressWith(change: { authority?: string; place?: string }): string;
  count(): Promise<number>;
  /** All stored messages in order. */
  read(): Promise<BrokerDelivery[]>;
}

const STREAM = "EVENTS";

export async function startNatsStory(): Promise<BrokerStory> {
  const server = await startNatsServer();
  const { port } = server;
  const [user, pass] = server.authority.split(/[:@]/);
  const use = async <Result>(
    work: (connection: Awaited<ReturnType<typeof connectToNats>>) => Promise<Result>,
  ) => {
    const connection = await connectToNats({ servers: `127.0.0.1:${port}`, user, pass });
    return work(connection).finally(() => connection.close());
  };
  await use(async (connection) => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: STREAM, subjects: ["shop.>"] });
  });
  const addressWith: BrokerStory["addressWith"] = ({ authority = server.authority, place = "shop" }) =>
    `nats://${authority}/${place}`;
  return {
    server,
    url: addressWith({}),
    addressWith,
    count: () =>
      use(async (connection) => {
        const { state } = await (await jetstreamManager(connection)).streams.info(STREAM);
        return state.messages;
      }),
    read: () =>
      use(async (connection) => {
        const { state } = await (await jetstreamManager(connection)).streams.info(STREAM);
        const found: BrokerDelivery[] = [];
        if (state.messages === 0) return found;
        const consumer = await jetstream(connection).consumers.get(STREAM, { filter_subjects: "shop.>" });
        for await (const message of await consumer.fetch({ max_messages: state.messages })) {
          const headers = Object.fromEntries(
            [...(message.headers ?? [])].map(([name, [value = ""]]) => [name, value]),
          );
          const id = message.headers?.get("Nats-Msg-Id") ?? "";
          found.push({ topic: message.subject, id, headers, body: Buffer.from(message.data) });
        }
        return found;
      }),
  };
}

const EXCHANGE = "events";
const QUEUE = "all";

export async function startRabbitStory(): Promise<BrokerStory> {
  const server = await startRabbitServer();
  const use = async <Result>(
    work: (
      channel: Awaited<ReturnType<Awaited<ReturnType<typeof connectToRabbit>>["createChannel"]>>,
    ) => Promise<Result>,
  ) => {
    const connection = await connectToRabbit(`amqp://${server.authority}`);
    return work(await connection.createChannel()).finally(() => connection.close());
  };
  await use(async (channel) => {
    await channel.assertExchange(EXCHANGE, "topic", { durable: true });
    await channel.assertQueue(QUEUE, { durable: true });
    await channel.bindQueue(QUEUE, EXCHANGE, "shop.#");
  });
  const addressWith: BrokerStory["addressWith"] = ({ authority = server.authority, place = EXCHANGE }) =>
    `amqp://${authority}/?exchange=${place}&routing_key=shop`;
  return {
    server,
    url: addressWith({}),
    addressWith,
    count: () => use(async (channel) => (await channel.checkQueue(QUEUE)).messageCount),
    read: () =>
      use(async (channel) => {
        const found: BrokerDelivery[] = [];
        for (;;) {
          // Unacknowledged messages return to the queue.
          const message = await channel.get(QUEUE);
          if (!message) return found;
          const { messageId, headers, contentType } = message.properties;
          found.push({
            topic: message.fields.routingKey,
            id: messageId,
            headers: { ...(headers as Record<string, string>), "content-type": contentType },
            body: message.content,
          });
        }
      }),
  };
}
