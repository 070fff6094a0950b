import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { QUIET_CLOCK } from "../../src/extensions/integrations/typebot/input/collect-messages.ts";
import { type FlowStep, startTypebot, type TypebotServer } from "../servers/typebot-server.ts";
import { type IntegrationStory, startIntegrationStory, waitUntil } from "./integration-story.ts";

type Client = IntegrationStory["shop"]["client"];
type View = Awaited<ReturnType<Client["getIntegration"]>>["data"];

/** A shop that is integrated with a fake Typebot viewer. */
export interface TypebotStory {
  readonly story: IntegrationStory;
  readonly typebot: TypebotServer;
  /** Publishes a flow and saves the integration with it. */
  serve(flow: FlowStep[], config?: Record<string, unknown>): Promise<void>;
  save(config?: Record<string, unknown>): Promise<void>;
  read(): Promise<View>;
  test(): Promise<Awaited<ReturnType<Client["testIntegration"]>>["data"]>;
  /** A contact writes. Returns the messages from reply number `count` on. */
  talk(from: string, text: string, count: number, more?: Record<string, unknown>): Promise<string[]>;
  /** Advances past every wait of the integration, and resolves when no work is left. */
  settle(): Promise<void>;
  /** Resolves when the last error contains this text. */
  lastError(words: string): Promise<void>;
  /** Resolves when each waiting job has failed this often. */
  failed(times: number): Promise<void>;
  /** Longest wait of a job until its next attempt. */
  longestWaitMs(): Promise<number>;
}

export function setUpTypebotStory(env: Record<string, string> = {}): TypebotStory {
  let story: IntegrationStory;
  let typebot: TypebotServer;
  beforeAll(async () => {
    [story, typebot] = await Promise.all([startIntegrationStory(env), startTypebot()]);
  });
  afterAll(async () => {
    await story.stop();
    await typebot.shut();
  });
  afterEach(async () => {
    await story.shop.client.deleteIntegration(at()).catch(() => {});
    typebot.reset();
  });

  const at = () => ({ id: story.shop.id, provider: "typebot" as const });
  const read = async () => (await story.shop.client.getIntegration(at())).data;
  const ask = async (what: ReturnType<typeof sql<{ n: number }>>) =>
    (await what.execute(story.gateway.database.db)).rows[0]?.n ?? 0;
  const save = async (config = {}) => {
    const input = { base_url: typebot.url, public_id: "shop", ...config };
    await story.shop.client.saveIntegration({ ...at(), config: input });
  };
  return {
    get story() {
      return story;
    },
    get typebot() {
      return typebot;
    },
    async serve(flow, config = {}) {
      typebot.publish("shop", flow);
      await save(config);
    },
    save,
    read,
    test: async () => (await story.shop.client.testIntegration(at())).data,
    async talk(from, text, count, more = {}) {
      await story.receive(from, text, more);
      return (await story.receivedBy(from, count)).slice(count - 1);
    },
    async settle() {
      const clock = vi.spyOn(QUIET_CLOCK, "now").mockImplementation(() => Date.now() + 600_000);
      await waitUntil(async () => {
        await story.gateway.advance(60_000);
        return (await read()).waiting === 0;
      });
      clock.mockRestore();
    },
    lastError: (words) => waitUntil(async () => (await read()).last_error?.includes(words)),
    failed: (times) =>
      waitUntil(
        async () =>
          (await ask(
            sql`select min(attempts) as n from job join integration i on i.lane = job.lane
              where i.instance_id = ${story.shop.id}`,
          )) >= times,
      ),
    longestWaitMs: () =>
      ask(
        sql`select max(extract(epoch from run_at - now()) * 1000)::float8 as n
          from job join integration i on i.lane = job.lane where i.instance_id = ${story.shop.id}`,
      ),
  };
}
