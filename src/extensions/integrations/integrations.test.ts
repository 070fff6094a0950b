import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type N8nServer, startN8n } from "../../../test/servers/n8n-server.ts";
import {
  type IntegrationStory,
  newPerson,
  startIntegrationStory,
  waitUntil,
} from "../../../test/stories/integration-story.ts";

const TOKEN = "a-long-token-1234";

describe("integrations", () => {
  let story: IntegrationStory;
  let n8n: N8nServer;

  beforeAll(async () => {
    [story, n8n] = await Promise.all([startIntegrationStory(), startN8n()]);
    n8n.activate("in");
  });
  afterAll(async () => {
    await story.stop();
    await n8n.shut();
  });

  const client = () => story.shop.client;
  const of = (provider: "n8n" | "typebot" | "chatwoot") => ({ id: story.shop.id, provider });
  const rows = async (text: string) =>
    (await sql.raw<Record<string, unknown>>(text).execute(story.gateway.database.db)).rows;

  test("are saved flat or in config, also with aliases, and returned with masked secrets", async () => {
    const { data } = await client().saveIntegration({
      ...of("n8n"),
      webhookUrl: `${n8n.url}/webhook/in`,
      token: TOKEN,
    });
    expect(data).toMatchObject({
      provider: "n8n",
      enabled: true,
      status: "unknown",
      has_token: true,
      last_error: null,
      waiting: 0,
      config: { webhook_url: `${n8n.url}/webhook/in`, token: "****1234", reply_mode: "none" },
    });
    const typebot = await client().saveIntegration({
      ...of("typebot"),
      enabled: false,
      config: { url: "http://typebot.test/api", publicId: "my-bot", apiToken: "short" },
    });
    expect(typebot.data).toMatchObject({
      enabled: false,
      has_token: true,
      config: { base_url: "http://typebot.test", public_id: "my-bot", api_token: "****" },
    });
    const { data: all } = await client().listIntegrations({ id: story.shop.id });
    expect(all.map(({ provider }) => provider)).toEqual(["typebot", "n8n"]);
    const kept = await rows("select config::text as config, secret from integration");
    expect(JSON.stringify(kept.map(({ config }) => config))).not.toContain(TOKEN);
    expect(kept.every(({ secret }) => Buffer.isBuffer(secret))).toBe(true);
  });

  test("keep a secret that is sent back masked, but do not pass it to another address", async () => {
    const { data: shown } = await client().getIntegration(of("n8n"));
    await client().saveIntegration({ ...of("n8n"), config: { ...shown.config, include_groups: false } });
    await story.receive(newPerson(), "hi");
    await waitUntil(() => n8n.executions.length === 1);
    expect(n8n.executions[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    const elsewhere = { ...shown.config, webhook_url: "http://localhost:9/webhook/in" };
    await expect(client().saveIntegration({ ...of("n8n"), config: elsewhere })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field: "token", issue: "must be sent again when the address changes" }] },
    });
  });

  test("can be disabled and enabled without sending their configuration", async () => {
    n8n.reset();
    await client().saveIntegration({ ...of("n8n"), enabled: false });
    await story.receive(newPerson(), "while off");
    const { data } = await client().saveIntegration({ ...of("n8n"), enabled: true });
    expect(data.config).toMatchObject({ token: "****1234" });
    await story.receive(newPerson(), "while on");
    await waitUntil(() => n8n.executions.length === 1);
    expect(n8n.executions[0]?.body.chatInput).toBe("while on");
  });

  test.each([
    ["without its address", {}, "webhook_url"],
    ["with an invalid address", { webhook_url: "ftp://x" }, "webhook_url"],
    ["with a forbidden address", { webhook_url: "http://169.254.169.254/x" }, "webhook_url"],
    ["with an unknown event", { webhook_url: "http://x.test/", events: ["message.invented"] }, "events.0"],
    [
      "with a value of the wrong type",
      { webhook_url: "http://x.test/", include_groups: "perhaps" },
      "include_groups",
    ],
    ["with a token that is invalid in a header", { webhook_url: "http://x.test/", token: "a\nb" }, "token"],
    [
      "with a reserved header",
      { webhook_url: "http://x.test/", header_name: "X-Waygate-Signature" },
      "header_name",
    ],
  ])("are rejected %s", async (_, config, field) => {
    const owner = story.gateway.owner;
    const { id } = await story.gateway.createInstance();
    await expect(owner.saveIntegration({ id, provider: "n8n", config })).rejects.toMatchObject({
      status: 400,
      details: { fields: [expect.objectContaining({ field })] },
    });
    expect((await owner.listIntegrations({ id })).data).toEqual([]);
  });

  test("are rejected if their kind is unknown, not configured or of another account", async () => {
    const { shop, gateway } = story;
    const unknown = client().saveIntegration({ id: shop.id, provider: "zapier" as "n8n", config: {} });
    await expect(unknown).rejects.toMatchObject({ status: 400 });
    const other = await gateway.createInstance();
    const own = { id: other.id, provider: "n8n" } as const;
    const missing = { code: "NOT_FOUND" };
    await expect(other.client.getIntegration(own)).rejects.toMatchObject(missing);
    await expect(other.client.testIntegration(own)).rejects.toMatchObject(missing);
    await expect(other.client.deleteIntegration(own)).rejects.toMatchObject(missing);
    const forbidden = { code: "INSTANCE_FORBIDDEN" };
    const change = { ...of("n8n"), enabled: false };
    await expect(other.client.getIntegration(of("n8n"))).rejects.toMatchObject(forbidden);
    await expect(other.client.saveIntegration(change)).rejects.toMatchObject(forbidden);
  });

  test("have a limit of test calls per minute", async () => {
    const { id, client: own } = await story.gateway.createInstance();
    await own.saveIntegration({ id, provider: "n8n", webhook_url: `${n8n.url}/webhook/in` });
    for (let time = 0; time < 10; time++) await own.testIntegration({ id, provider: "n8n" });
    const beyond = own.testIntegration({ id, provider: "n8n" });
    await expect(beyond).rejects.toMatchObject({ code: "RATE_LIMITED" });
  });

  test("stop when the plan no longer includes them", async () => {
    n8n.reset();
    await client().saveIntegration({ ...of("n8n"), config: { webhook_url: `${n8n.url}/webhook/in` } });
    await rows(`update plan set features = features || '{"integrations": false}'`);
    await story.receive(newPerson(), "without a plan");
    await story.waitUntilIdle();
    await rows(`update plan set features = features - 'integrations'`);
    await story.receive(newPerson(), "with a plan");
    await waitUntil(() => n8n.executions.length === 1);
    expect(n8n.executions[0]?.body.chatInput).toBe("with a plan");
  });

  test("leave no lane, job or secret when they or their instance are removed", async () => {
    const gone = await story.gateway.connectInstance();
    const { id } = gone;
    await gone.client.saveIntegration({ id, provider: "n8n", webhook_url: `${n8n.url}/webhook/none` });
    await gone.client.saveIntegration({ id, provider: "typebot", base_url: n8n.url, public_id: "x" });
    await gone.client.deleteIntegration({ id: gone.id, provider: "n8n" });
    await story.gateway.owner.deleteInstance({ id: gone.id });
    expect(await rows(`select id from integration where instance_id = ${gone.id}`)).toEqual([]);
    const left = await rows(`
      select key from lane where kind = 'integration' and not exists (
        select from integration where lane.id in (lane, inbound_lane))`);
    expect(left).toEqual([]);
  });
});
