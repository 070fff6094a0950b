import { sql } from "kysely";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";

let personCount = 0;

/** A number that is unique in this process and that the sandbox treats normally: none of its fixed endings has an 8. */
export function newPerson(): string {
  personCount += 1;
  return `5521${80_000_000 + personCount}8`;
}

/** A shop whose customers write to it. */
export interface IntegrationStory {
  readonly gateway: TestGateway;
  readonly shop: TestInstance;
  /** A contact writes to the shop; returns the network id of the stored message. */
  receive(from: string, text: string, more?: Record<string, unknown>): Promise<string>;
  /**
   * The messages that a contact received, once there are this many: texts, captions, and `[type]` for files
   * without one.
   */
  receivedBy(by: string, count: number): Promise<string[]>;
  /** The same, as it is now. */
  receivedSoFar(by: string): Promise<string[]>;
  /** Lets this interval pass since integrations began to reject events. */
  refusedFor(interval: string): Promise<unknown>;
  /** Resolves once nothing waits for the integrations any more. */
  waitUntilIdle(): Promise<void>;
  stop(): Promise<void>;
}

export async function startIntegrationStory(env: Record<string, string> = {}): Promise<IntegrationStory> {
  const gateway = await startTestGateway(env);
  const shop = await gateway.connectInstance({ name: "Shop" });
  const { db } = gateway.database;

  async function receivedSoFar(by: string): Promise<string[]> {
    const { rows } = await sql<{ text: string }>`
      select coalesce(content ->> 'text', content ->> 'caption', '[' || (content ->> 'media_type') || ']') as text
      from sandbox.ledger where action = 'send' and outcome = 'accepted' and chat = ${`${by}@s.whatsapp.net`}
      order by id`.execute(db);
    return rows.map((row) => row.text);
  }

  async function rowsOf(table: string, where: ReturnType<typeof sql>): Promise<number> {
    const { rows } = await sql<{
      n: number;
    }>`select count(*)::int as n from ${sql.table(table)} where ${where}`.execute(db);
    return rows[0]?.n ?? 0;
  }

  return {
    gateway,
    shop,
    async receive(from, text, more = {}) {
      const { data } = await shop.client.sandboxReceive({
        id: shop.id,
        from,
        ...(text && { text }),
        ...more,
      });
      await waitUntil(() =>
        rowsOf("message", sql`message_id = ${data.message_id} and instance_id = ${shop.id}`),
      );
      return data.message_id;
    },
    async receivedBy(by, count) {
      await waitUntil(async () => (await receivedSoFar(by)).length >= count);
      return receivedSoFar(by);
    },
    receivedSoFar,
    refusedFor: (interval) =>
      sql`update integration set refused_since = now() - ${interval}::interval
        where refused_since is not null`.execute(db),
    async waitUntilIdle() {
      await waitUntil(async () => {
        const { rows } = await sql<{ n: number }>`
          select count(*)::int as n from job join lane on lane.id = job.lane
          where lane.kind in ('integration', 'session')`.execute(db);
        return rows[0]?.n === 0;
      });
    },
    stop: () => gateway.stop(),
  };
}

export { waitUntil };
