import { afterAll, beforeAll } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { newPhone, startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";
import { createHttpRequester, type HttpRequester } from "../http-requester.ts";
import { signIn } from "../sign-in.ts";

type NewCampaign = Parameters<Client["createCampaign"]>[0];
type Campaign = Awaited<ReturnType<Client["getCampaign"]>>["data"];

/** One gateway for the file, with a paired instance that sends campaigns. */
export interface CampaignStory {
  readonly gateway: TestGateway;
  readonly shop: TestInstance;
  readonly owner: Client;
  /** Requests of the owner with unmodified JSON. */
  request: HttpRequester;
  /** Creates a campaign without pauses, unless `input` says otherwise. Returns its id. */
  create(input?: Partial<NewCampaign>): Promise<number>;
  start(numbers: readonly string[], input?: Partial<NewCampaign>): Promise<number>;
  show(id: number): Promise<Campaign>;
  totals(id: number): Promise<Campaign["totals"]>;
  /** Advances time until the campaign has the status. */
  reach(id: number, status?: Campaign["status"]): Promise<void>;
  /** Resolves when all queued sends have ended or were withdrawn. */
  drained(id: number): Promise<void>;
  /** Messages that the network received for these recipients. */
  arrived(phones: readonly string[]): Promise<{ phone: string; text: string }[]>;
  rows<Row extends object = Record<string, unknown>>(text: string, ...values: unknown[]): Promise<Row[]>;
  limit(plan: { max_campaigns?: number | null; max_messages?: number | null }): Promise<void>;
}

export function setUpCampaignStory(): CampaignStory {
  let gateway: TestGateway;
  let shop: TestInstance;
  let request: HttpRequester;

  beforeAll(async () => {
    gateway = await startTestGateway();
    shop = await gateway.connectInstance();
    const { headers } = await signIn(gateway.url);
    request = (http, body, more) =>
      createHttpRequester(() => gateway.url)(http, body, { ...headers, ...more });
  });
  afterAll(() => gateway.stop());

  const story: CampaignStory = {
    get gateway() {
      return gateway;
    },
    get shop() {
      return shop;
    },
    get owner() {
      return gateway.owner;
    },
    request: (...call) => request(...call),
    async create(input = {}) {
      const { data } = await gateway.owner.createCampaign({
        name: "Spring",
        instance_id: shop.id,
        message_template: "Hello {{name}}",
        min_delay_ms: 0,
        max_delay_ms: 0,
        ...input,
      });
      return data.id;
    },
    async start(numbers, input) {
      const id = await story.create(input);
      await gateway.owner.addRecipients({ id, numbers: [...numbers] });
      await gateway.owner.startCampaign({ id });
      return id;
    },
    show: async (id) => (await gateway.owner.getCampaign({ id })).data,
    totals: async (id) => (await story.show(id)).totals,
    reach: (id, status = "completed") =>
      waitUntil(async () => {
        if ((await story.show(id)).status === status) return true;
        await gateway.advance(1_000);
      }),
    drained: (id) => waitUntil(async () => (await story.totals(id)).queued === 0),
    arrived: (phones) =>
      story.rows(
        `select split_part(chat, '@', 1) as phone, content ->> 'text' as text from sandbox.ledger
         where action = 'send' and phone = $1 and split_part(chat, '@', 1) = any($2) order by id`,
        shop.phone,
        phones,
      ),
    async rows(text, ...values) {
      return (await gateway.database.pool.query(text, values)).rows;
    },
    async limit(plan) {
      await gateway.database.db.updateTable("plan").set(plan).where("name", "=", "unlimited").execute();
    },
  };
  return story;
}

/** Numbers that receive and read messages. */
export function newPhones(count: number): string[] {
  return Array.from({ length: count }, newPhone);
}

let numbers = 0;

/** A new number with a fixed behaviour in the sandbox. */
export function numberEnding(ending: string): string {
  numbers += 1;
  return `55219${String(numbers).padStart(4, "0")}${ending}`;
}
