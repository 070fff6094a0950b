import { afterAll, beforeAll, beforeEach } from "vitest";
import { REORDER_TIMING } from "../../src/extensions/integrations/chatwoot/agents/receive-webhook.ts";
import { changeTiming } from "../change-sandbox-timing.ts";
import { WORK_LEFT } from "../database.ts";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";
import { FakeChatwoot, type FakeConversation, type FakeMessage } from "../servers/fake-chatwoot.ts";
import { type StableAddress, startStableAddress } from "../servers/stable-address.ts";

type ReceiveInput = Omit<Parameters<TestInstance["client"]["sandboxReceive"]>[0], "id">;

type Client = TestInstance["client"];
type Integration = Awaited<ReturnType<Client["getIntegration"]>>["data"];
type TestReport = Awaited<ReturnType<Client["testIntegration"]>>["data"];

/** A gateway with one instance that is integrated with a fake Chatwoot. */
export interface ChatwootStory {
  readonly gateway: TestGateway;
  readonly shop: TestInstance;
  /** URL under which Chatwoot calls the gateway. */
  readonly baseUrl: string;
  readonly chatwoot: FakeChatwoot;
  /** Saves a valid configuration with these changes. */
  save(fields?: Record<string, unknown>): ReturnType<TestInstance["client"]["saveIntegration"]>;
  remove(): Promise<void>;
  read(): Promise<Integration>;
  /** Result of a test call. */
  test(): Promise<TestReport>;
  /** Runs SQL. */
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs
  query(text: string, ...values: unknown[]): Promise<any[]>;
  /** Saves the integration and delivers Bia's first message to the inbox. */
  open(fields?: Record<string, unknown>): Promise<{ conversation: FakeConversation; id: string }>;
  /** Delivers an inbound WhatsApp message and returns its id. */
  receive(input: ReceiveInput): Promise<string>;
  /** The contact's conversation once it has a message. */
  conversation(phone: string): Promise<FakeConversation>;
  /** Resolves when neither side has work left. */
  untilIdle(): Promise<void>;
  /** Messages sent to WhatsApp from the inbox. */
  sent(): Promise<SentMessage[]>;
  /** Waits for `count` sent messages. */
  waitForSent(count: number): Promise<SentMessage[]>;
  waitForMessage(isWanted: (message: FakeMessage) => boolean): Promise<FakeMessage>;
}

export interface SentMessage {
  id: number;
  message_id: string;
  jid: string;
  origin: string;
  status: string;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads what it needs
  content: any;
  deleted_at: Date | null;
}

/** The contact. */
export const BIA = "5521977770031";

/** A story with its own Chatwoot, reset before each test. */
export function setUpChatwootStory(settings: Record<string, string> = {}): ChatwootStory {
  changeTiming(REORDER_TIMING, { waitMs: 20 });
  let gateway: TestGateway;
  let address: StableAddress;
  let shop: TestInstance;
  const chatwoot = new FakeChatwoot();

  beforeAll(async () => {
    await chatwoot.start();
    address = await startStableAddress(() => gateway?.url);
    gateway = await startTestGateway({ WAYGATE_BASE_URL: address.url, ...settings });
  });
  afterAll(async () => {
    await chatwoot.stop();
    await gateway.stop();
    address.close();
  });
  beforeEach(async () => {
    if (shop) await story.remove();
    await chatwoot.settled();
    chatwoot.reset();
    shop = await gateway.connectInstance();
  });

  const own = () => ({ id: shop.id, provider: "chatwoot" as const });
  const story: ChatwootStory = {
    chatwoot,
    get gateway() {
      return gateway;
    },
    get shop() {
      return shop;
    },
    get baseUrl() {
      return address.url;
    },
    save: (fields = {}) =>
      shop.client.saveIntegration({
        ...own(),
        config: {
          url: chatwoot.url,
          access_token: chatwoot.token,
          account_id: chatwoot.account_id,
          inbox_id: chatwoot.inbox.id,
          ...fields,
        },
      }),
    async remove() {
      await shop.client.deleteIntegration(own()).catch(() => {});
    },
    read: async () => (await shop.client.getIntegration(own())).data,
    test: async () => (await shop.client.testIntegration(own())).data,
    query: async (text, ...values) => (await gateway.database.pool.query(text, values)).rows,
    async open(fields) {
      await story.save(fields);
      const id = await story.receive({ from: BIA, push_name: "Bia", text: "Hello" });
      const conversation = await story.conversation(BIA);
      await story.untilIdle();
      return { conversation, id };
    },
    async receive(input) {
      const { data } = await shop.client.sandboxReceive({ id: shop.id, ...input });
      return data.message_id;
    },
    async conversation(phone) {
      const find = () => {
        const inbox = chatwoot.contactInboxes.find(({ source_id }) => source_id.startsWith(phone));
        return chatwoot.conversations.findLast(({ contact_id }) => contact_id === inbox?.contact_id);
      };
      await waitUntil(() => find() && chatwoot.of(find()?.id ?? 0).length > 0);
      return find() as FakeConversation;
    },
    async untilIdle() {
      for (let calm = 0; calm < 3; ) {
        await chatwoot.settled();
        const { rowCount } = await gateway.database.pool.query(WORK_LEFT);
        calm = rowCount === 0 ? calm + 1 : 0;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async sent() {
      const { rows } = await gateway.database.pool.query<SentMessage>(
        `select id, message_id, jid, origin, status, content, deleted_at from message
         where instance_id = $1 and origin = 'inbox' order by id`,
        [shop.id],
      );
      return rows;
    },
    async waitForSent(count) {
      await waitUntil(async () => (await story.sent()).length >= count);
      return story.sent();
    },
    async waitForMessage(isWanted) {
      await waitUntil(() => chatwoot.messages.some(isWanted));
      return chatwoot.messages.find(isWanted) as FakeMessage;
    },
  };
  return story;
}
