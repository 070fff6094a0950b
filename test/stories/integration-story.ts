import { sql } from "kysely";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../gateway.ts";

let personCount = 0;

/** A unique number without special behaviour in the sandbox: no special ending contains an 8. */
export function newPerson(): string {
  personCount += 1;
  return `5521${80_000_000 + personCount}8`;
}

/** A shop and its customers. */
export interface IntegrationStory {
  readonly gateway: TestGateway;
  readonly shop: TestInstance;
  /** A contact writes to the shop. Returns the network id of the stored message. */
  receive(from: string, text: string, more?: Record<string, unknown>): Promise<string>;
  /** The first `count` messages that a contact received: texts, captions, or `[type]` for files without one. */
  receivedBy(by: string, count: number): Promise<string[]>;
  /** Those received until now. */
  receivedSoFar(by: string): Promise<string[]>;
  /** Simulates that integrations have rejected events for this interval. */
  refusedFor(interval: string): Promise<unknown>;
  /** Resolves when the integrations have no work left. */
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
