import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chooseExtensions } from "../src/processes/choose-extensions.ts";
import { newPhone, startTestGateway, type TestGateway } from "./gateway.ts";

describe("a gateway whose campaigns and what needs them are switched off", () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway({
      WAYGATE_EXTENSIONS: "all, -campaigns, -crm, -privacy, -quick-replies",
    });
  });
  afterAll(() => gateway.stop());

  test("says so on their routes, with or without a credential", async () => {
    const refusal = {
      status: 501,
      code: "NOT_AVAILABLE",
      message: "The extension campaigns is switched off on this gateway (WAYGATE_EXTENSIONS).",
    };
    await expect(gateway.owner.listCampaigns({})).rejects.toMatchObject(refusal);
    await expect(gateway.anonymous.getCampaign({ id: 1 })).rejects.toMatchObject(refusal);
  });

  test("describes neither their routes nor their events", async () => {
    const response = await fetch(`${gateway.url}/openapi.json`);
    const { paths, webhooks, tags } = (await response.json()) as Record<
      "paths" | "webhooks" | "tags",
      Record<string, unknown>
    >;
    const described = JSON.stringify(paths);
    expect(described).toContain('"operationId":"sendText"');
    expect(described).not.toMatch(/"operationId":"(listCampaigns|listLeads|listQuickReplies)"/);
    expect(Object.keys(webhooks)).not.toContain("campaign.completed");
    expect(tags).not.toContainEqual({ name: "Campaigns" });
  });

  test("sends, and refuses the quick reply that it does not have", async () => {
    const { id, client } = await gateway.connectInstance();
    const number = newPhone();
    const { data } = await client.sendText({ id, number, text: "Hello" });
    expect(data.status).toBe("sent");
    await expect(client.sendText({ id, number, quick_reply: "hello" })).rejects.toMatchObject({
      code: "NOT_AVAILABLE",
    });
  });
});

describe("a webhook in the format of another gateway", () => {
  test("still gets its events in it while the formats are switched off", async () => {
    const gateway = await startTestGateway({ WAYGATE_EXTENSIONS: "all, -webhook-formats" });
    onTestFinished(() => gateway.stop());
    const { id, client } = await gateway.connectInstance();
    const { data } = await client.openReceiver({ id });
    await client.updateWebhook({ id, webhookId: data.webhook_id, format: "evolution", overlap_seconds: 0 });
    await client.sendText({ id, number: newPhone(), text: "Hello" });
    await expect
      .poll(async () => (await client.getReceiver({ id })).data.received.map(({ body }) => body ?? ""))
      .toContainEqual(expect.stringContaining('"event":"send.message"'));
  });
});

describe("WAYGATE_EXTENSIONS", () => {
  const namesOf = (...words: string[]) => chooseExtensions(words).on.map(({ name }) => name);

  test("names the extensions, or those of all that are switched off", () => {
    expect(namesOf("consent", "linking")).toEqual(["consent", "linking"]);
    expect(namesOf("all", "-linking")).not.toContain("linking");
    expect(namesOf("all").length).toBe(namesOf("all", "-linking").length + 1);
    expect(namesOf()).toEqual([]);
  });

  test("is refused with an unknown name, and without an extension that another one needs", () => {
    expect(() => chooseExtensions(["all", "-campaign"])).toThrow("Did you mean campaigns?");
    expect(() => chooseExtensions(["all", "-consent"])).toThrow("campaigns needs consent.");
  });
});
