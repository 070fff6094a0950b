import { afterAll, afterEach, beforeAll } from "vitest";
import { type N8nServer, startN8n } from "../servers/n8n-server.ts";
import { type IntegrationStory, startIntegrationStory, waitUntil } from "./integration-story.ts";

type Client = IntegrationStory["shop"]["client"];
type View = Awaited<ReturnType<Client["getIntegration"]>>["data"];

/** A shop that is integrated with a fake n8n. */
export interface N8nStory {
  readonly story: IntegrationStory;
  readonly n8n: N8nServer;
  save(path: string, config?: Record<string, unknown>): ReturnType<Client["saveIntegration"]>;
  read(): Promise<View>;
  /** Waits until the integration has this status. */
  status(wanted: string): Promise<View>;
  test(): Promise<Awaited<ReturnType<Client["testIntegration"]>>["data"]>;
  executed(count: number): Promise<void>;
  inputs(): string[];
}

export function setUpN8nStory(env: Record<string, string> = {}): N8nStory {
  let story: IntegrationStory;
  let n8n: N8nServer;
  beforeAll(async () => {
    [story, n8n] = await Promise.all([startIntegrationStory(env), startN8n()]);
  });
  afterAll(async () => {
    await story.stop();
    await n8n.shut();
  });
  afterEach(async () => {
    await story.shop.client.deleteIntegration({ ...at() }).catch(() => {});
    n8n.reset();
  });

  const at = () => ({ id: story.shop.id, provider: "n8n" as const });
  const read = async () => (await story.shop.client.getIntegration(at())).data;
  return {
    get story() {
      return story;
    },
    get n8n() {
      return n8n;
    },
    save: (path, config = {}) =>
      story.shop.client.saveIntegration({
        ...at(),
        enabled: true,
        config: { webhook_url: `${n8n.url}/webhook/${path}`, token: "a-token", ...config },
      }),
    read,
    async status(wanted) {
      await waitUntil(async () => (await read()).status === wanted);
      return read();
    },
    test: async () => (await story.shop.client.testIntegration(at())).data,
    executed: (count) => waitUntil(() => n8n.executions.length >= count),
    inputs: () => n8n.executions.map(({ body }) => body.chatInput),
  };
}
