import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";
import { type Received, type Receiver, startReceiver } from "../servers/receiver.ts";

type NewWebhook = Parameters<Client["createWebhook"]>[0];
type Event = Awaited<ReturnType<Client["listEvents"]>>["data"][number];
type Delivery = Event["deliveries"][number];
type Log = Awaited<ReturnType<Client["listDeliveryLogs"]>>["data"][number];

/** One gateway for the file. Each test gets a paired instance and a receiver. */
export interface WebhookStory {
  readonly gateway: TestGateway;
  readonly shop: TestInstance;
  readonly receiver: Receiver;
  /** Another receiver, closed after the test. */
  startReceiver(): Promise<Receiver>;
  /** Adds a webhook for the receiver, or for `url`, and trusts its secret. */
  addWebhook(
    input?: Partial<Omit<NewWebhook, "id">>,
  ): Promise<Awaited<ReturnType<Client["createWebhook"]>>["data"]>;
  /** A contact writes to the instance. Returns the recorded event. */
  receive(text: string, from?: string): Promise<Event>;
  logs(filter?: Partial<Parameters<Client["listDeliveryLogs"]>[0]>): Promise<Log[]>;
  /** The delivery of an event to a webhook, once the condition holds. */
  delivery(
    event_id: string,
    webhookId: number,
    isEnough?: (delivery: Delivery) => boolean,
  ): Promise<Delivery>;
}

export function setUpWebhookStory(env: Record<string, string> = {}): WebhookStory {
  let gateway: TestGateway;
  let shop: TestInstance;
  let receivers: Receiver[] = [];
  const begin = async () => {
    const receiver = await startReceiver();
    receivers.push(receiver);
    return receiver;
  };

  beforeAll(async () => {
    gateway = await startTestGateway({
      // Long enough that on a slow machine no retry starts on its own during an attempt.
      WAYGATE_RETRY_SCHEDULE: "30s,3m,12m",
      WAYGATE_WEBHOOK_TIMEOUT: "5s",
      ...env,
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(async () => {
    await begin();
    shop = await gateway.connectInstance();
  });
  afterEach(async () => {
    await Promise.all(receivers.map((receiver) => receiver.close()));
    receivers = [];
  });

  const story: WebhookStory = {
    get gateway() {
      return gateway;
    },
    get shop() {
      return shop;
    },
    get receiver() {
      return receivers[0] as Receiver;
    },
    startReceiver: begin,
    async addWebhook(input = {}) {
      const { data } = await shop.client.createWebhook({
        id: shop.id,
        name: "Mine",
        url: story.receiver.url,
        events: ["message.received"],
        ...input,
      });
      for (const receiver of receivers) if (receiver.url === data.url) receiver.trust(data.secret);
      return data;
    },
    async receive(text, from = "5511977770001") {
      const { data } = await shop.client.sandboxReceive({ id: shop.id, from, text });
      let found: Event | undefined;
      await waitUntil(async () => {
        found = await findEvent(shop, data.message_id);
        return found;
      });
      return found as Event;
    },
    async logs(filter = {}) {
      return (await shop.client.listDeliveryLogs({ id: shop.id, limit: 200, ...filter })).data;
    },
    async delivery(event_id, webhookId, isEnough = () => true) {
      let found: Delivery | undefined;
      await waitUntil(async () => {
        const { data } = await shop.client.getEvent({ id: shop.id, eventId: event_id });
        found = data.deliveries.find((delivery) => delivery.webhook_id === webhookId);
        return found && isEnough(found);
      });
      return found as Delivery;
    },
  };
  return story;
}

async function findEvent({ client, id }: TestInstance, messageId: string): Promise<Event | undefined> {
  const { data } = await client.listEvents({ id, after: 0, limit: 200, event: "message.received" });
  return data.find((event) => {
    const { message } = (event.payload as { data: { message: { message_id: string } } }).data;
    return message.message_id === messageId;
  });
}

/** Matches deliveries of a message with this text. */
export function textIs(text: string): (item: Received) => boolean {
  return ({ body }) => body.data?.message?.text === text;
}
