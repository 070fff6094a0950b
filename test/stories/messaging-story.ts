import { sql } from "kysely";
import { createClient } from "../../src/client/client.ts";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";
import { createHttpRequester, type HttpRequester } from "../http-requester.ts";
import { type Received, type Receiver, startReceiver } from "../servers/receiver.ts";

export interface ReceivedByContact {
  action: string;
  outcome: string;
  message_id: string | null;
  target_id: string | null;
  chat: string;
  kind: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs of the content
  content: any;
}

/** A shop, a friend with another instance, and a receiver of all events. */
export interface MessagingStory {
  gateway: TestGateway;
  receiver: Receiver;
  readonly sales: TestInstance;
  readonly friend: TestInstance;
  /** Unmodified JSON requests with the shop's key, or another credential. */
  request: HttpRequester;
  /** The shop's event of that name for a message. */
  event(name: string, messageId: string): Promise<Received["body"]>;
  /** The shop's message.sent or message.failed. */
  outcome(messageId: string): Promise<Received["body"]>;
  /** The message as the friend received it. */
  arrived(messageId: string): Promise<Received["body"]["data"]["message"]>;
  /** Network ledger of a message, a chat or an action. */
  ledger(
    where: Partial<Pick<ReceivedByContact, "action" | "message_id" | "target_id" | "chat">>,
  ): Promise<ReceivedByContact[]>;
  /** Row counts of the tables that a send uses. */
  rows(): Promise<{ messages: number; files: number; jobs: number; keys: number }>;
  /** Adds another instance to the receiver. */
  join(input?: { name?: string }): Promise<TestInstance>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const EVENTS = ["message.*", "instance.*", "message.delivered", "call.received"] as const;

export async function startMessagingStory(env: Record<string, string> = {}): Promise<MessagingStory> {
  const gateway = await startTestGateway(env);
  const receiver = await startReceiver();
  const join: MessagingStory["join"] = async (input) => {
    const instance = await gateway.connectInstance({ ...input, webhook_url: receiver.url });
    await instance.client.updateDefaultWebhook({ id: instance.id, events: [...EVENTS] });
    receiver.trust(instance.webhook_secret);
    return instance;
  };
  let sales = await join({ name: "Sales" });
  let friend = await join({ name: "Friend" });
  const atNewAddress = (instance: TestInstance): TestInstance => ({
    ...instance,
    client: createClient({ baseUrl: gateway.url, apiKey: instance.api_key }),
  });

  const find = async (instance: TestInstance, takes: (body: Received["body"]) => boolean) => {
    const [found] = await receiver.waitFor(({ body }) => body.instance?.id === instance.id && takes(body));
    return found?.body;
  };
  const isAbout = (body: Received["body"], id: string) =>
    (body.data?.message_id ?? body.data?.message?.message_id) === id || body.data?.message_ids?.includes(id);

  return {
    gateway,
    receiver,
    get sales() {
      return sales;
    },
    get friend() {
      return friend;
    },
    join,
    request: (http, body, headers = { "x-api-key": sales.api_key }) =>
      createHttpRequester(() => gateway.url)(http, body, headers),
    event: (name, id) => find(sales, (body) => body.event === name && isAbout(body, id)),
    outcome: (id) =>
      find(
        sales,
        ({ event, data }) => /^message\.(sent|failed)$/.test(event) && data.message.message_id === id,
      ),
    async arrived(id) {
      const body = await find(
        friend,
        ({ event, data }) => event === "message.received" && data.message.message_id === id,
      );
      return body.data.message;
    },
    async ledger(where) {
      const { rows } = await sql<ReceivedByContact>`
        select action, outcome, message_id, target_id, chat, kind, content from sandbox.ledger l
        where to_jsonb(l) @> ${JSON.stringify(where)}::jsonb order by id`.execute(gateway.database.db);
      return rows;
    },
    async rows() {
      const { rows } = await sql<Awaited<ReturnType<MessagingStory["rows"]>>>`
        select (select count(*) from message where direction = 'outbound') as messages,
          (select count(distinct id) from outgoing_media) as files, (select count(*) from idempotency) as keys,
          (select count(*) from job where ref ->> 'do' in ('send', 'act')) as jobs`.execute(
        gateway.database.db,
      );
      return rows[0] ?? { messages: 0, files: 0, jobs: 0, keys: 0 };
    },
    async restart() {
      await gateway.restart();
      sales = atNewAddress(sales);
      friend = atNewAddress(friend);
    },
    async stop() {
      const { forged } = receiver;
      await receiver.close();
      await gateway.stop();
      if (forged.length > 0) throw new Error(`deliveries with a wrong signature: ${forged.join("\n")}`);
    },
  };
}

export { waitUntil };
