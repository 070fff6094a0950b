import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { isSigned } from "../../../test/servers/receiver.ts";
import { setUpWebhookStory, textIs } from "../../../test/stories/webhook-story.ts";

const story = setUpWebhookStory();
const { addWebhook, receive } = story;

const put = (input: Parameters<typeof story.gateway.admin.putGlobalWebhook>[0]) =>
  story.gateway.admin.putGlobalWebhook(input);

async function setGlobal(input: Parameters<typeof put>[0] = {}) {
  const { data } = await put({ url: story.receiver.url, events: ["message.received"], ...input });
  return data;
}

afterEach(async () => {
  await sql`delete from webhook where instance_id is null`.execute(story.gateway.database.db);
});

describe("the global webhook", () => {
  test("is disabled until it is set", async () => {
    const { data } = await story.gateway.admin.getGlobalWebhook();
    expect(data).toEqual({
      enabled: false,
      url: "",
      events: [],
      max_attempts: 10,
      format: "native",
      format_token: null,
      secret: null,
      last_delivery_at: null,
      last_status: null,
      last_error_class: null,
      disabled_reason: null,
      disabled_error: null,
    });
  });

  test("is created with a secret that is shown in full only once", async () => {
    const made = await setGlobal();
    expect(made).toMatchObject({ enabled: true, url: story.receiver.url, events: ["message.received"] });
    expect(made.secret).toMatch(/^whsec_.{40,}$/);
    const { data } = await story.gateway.admin.getGlobalWebhook();
    expect(data.secret).toBe(`whsec_****${made.secret?.slice(-4)}`);
  });

  test("receives the signed events of all instances in addition to the instances' webhooks", async () => {
    const { secret } = await setGlobal();
    const own = await story.startReceiver();
    await addWebhook({ url: own.url });
    const other = await story.gateway.connectInstance();
    await receive("First shop");
    await other.client.sandboxReceive({ id: other.id, from: "5511977770002", text: "Second shop" });
    const [first] = await story.receiver.waitFor(textIs("First shop"));
    const [second] = await story.receiver.waitFor(textIs("Second shop"));
    expect([first?.body.instance_id, second?.body.instance_id]).toEqual([
      `inst_${story.shop.id}`,
      `inst_${other.id}`,
    ]);
    expect(first && isSigned(first, String(secret))).toBe(true);
    await own.waitFor(textIs("First shop"));
    expect(own.received.filter(textIs("Second shop"))).toEqual([]);
  });

  test("has a lane per instance: an instance whose events fail does not block the others", async () => {
    await setGlobal();
    const other = await story.gateway.connectInstance();
    story.receiver.respond((item, response) => {
      response.writeHead(item.body.instance_id === `inst_${story.shop.id}` ? 500 : 200).end();
    });
    for (let n = 0; n < 12; n++) await receive(`Fails ${n}`, `55119777760${10 + n}`);
    await other.client.sandboxReceive({ id: other.id, from: "5511977770002", text: "Goes through" });
    const [item] = await story.receiver.waitFor(textIs("Goes through"));
    expect(item?.headers["x-waygate-attempt"]).toBe("1");
  });

  test("sends to one slow receiver for many instances at once", async () => {
    const shops: TestInstance[] = [];
    // Sequentially, because the instances share the lock of their account.
    while (shops.length < 12) shops.push(await story.gateway.connectInstance());
    await setGlobal();
    const open = new Set<string>();
    const areAllOpen = createGate();
    let most = 0;
    story.receiver.respond(async ({ body }, response) => {
      open.add(String(body.instance_id));
      response.on("close", () => open.delete(String(body.instance_id)));
      most = Math.max(most, open.size);
      if (most === 12) areAllOpen.open();
      await areAllOpen.opened;
      response.writeHead(200).end();
    });
    await Promise.all(
      shops.map((shop) =>
        shop.client.sandboxReceive({ id: shop.id, from: "5511977770003", text: "At once" }),
      ),
    );
    await expect.poll(() => most).toBe(12);
    await story.receiver.waitFor(textIs("At once"), 12);
  });

  test("with an empty address is disabled, and with a new address enabled", async () => {
    await setGlobal();
    expect((await put({ url: "" })).data).toMatchObject({ enabled: false, url: "" });
    const off = await receive("Off");
    expect(off.deliveries).toEqual([]);
    expect((await put({ enabled: true })).data.enabled).toBe(false);
    expect((await put({ url: story.receiver.url })).data.enabled).toBe(true);
    await receive("On");
    await story.receiver.waitFor(textIs("On"));
    expect(story.receiver.received.filter(textIs("Off"))).toEqual([]);
  });

  test("keeps omitted settings, and stays disabled if it was", async () => {
    const made = await setGlobal({ max_attempts: 3 });
    expect((await put({ enabled: false })).data).toMatchObject({ enabled: false, max_attempts: 3 });
    const { data } = await story.gateway.admin.postGlobalWebhook({ events: ["message.*"] });
    expect(data).toMatchObject({ enabled: false, url: made.url, events: ["message.*"], max_attempts: 3 });
  });

  test("rotates its secret with an overlap, and a masked secret changes nothing", async () => {
    const made = await setGlobal();
    const { data } = await put({ rotate_secret: true });
    expect(data.secret).not.toBe(made.secret);
    await put({ secret: `whsec_****${data.secret?.slice(-4)}` });
    await receive("Both");
    const [item] = await story.receiver.waitFor(textIs("Both"));
    expect(item && isSigned(item, String(data.secret))).toBe(true);
    expect(item?.headers["x-waygate-signature-previous"]).toMatch(/^sha256=/);
    expect(String(item?.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  });

  test("uses another gateway's format with the token that its receiver expects", async () => {
    const made = await setGlobal({ format: "uazapi", format_token: "their-token", events: [] });
    expect(made).toMatchObject({ format: "uazapi", format_token: "****" });
    await receive("In their words");
    const [item] = await story.receiver.waitFor(({ body }) => body.message?.text === "In their words");
    expect(item?.body).toMatchObject({ EventType: "messages", token: "their-token" });
    expect(item && isSigned(item, String(made.secret))).toBe(true);
    const lacking = put({ events: ["message.failed"] });
    await expect(lacking).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test("keeps that token bound to its origin, even after the webhook was disabled", async () => {
    await setGlobal({ format: "uazapi", format_token: "their-token", events: [] });
    const elsewhere = await story.startReceiver();
    const refusal = { code: "VALIDATION_ERROR", details: { fields: [{ field: "format_token" }] } };
    await expect(put({ url: elsewhere.url })).rejects.toMatchObject(refusal);
    await put({ url: "" });
    await expect(put({ url: elsewhere.url, format_token: "****" })).rejects.toMatchObject(refusal);
    await put({ url: elsewhere.url, format_token: "another" });
    await receive("Elsewhere");
    const [item] = await elsewhere.waitFor(({ body }) => body.message?.text === "Elsewhere");
    expect(item?.body.token).toBe("another");
  });

  test("follows its own limit of attempts, and events show the result", async () => {
    await setGlobal({ max_attempts: 1 });
    story.receiver.respond(500);
    const { event_id } = await receive("Once");
    await waitUntil(async () => {
      const { data } = await story.shop.client.getEvent({ id: story.shop.id, eventId: event_id });
      return data.deliveries[0]?.status === "failed";
    });
    expect((await story.gateway.admin.getGlobalWebhook()).data).toMatchObject({ last_status: 500 });
    story.receiver.respond(200);
    await story.shop.client.retryEvent({ id: story.shop.id, eventId: event_id });
    await story.receiver.waitFor(textIs("Once"), 2);
  });

  test("is disabled by a 410 response, and its record says why", async () => {
    await setGlobal();
    story.receiver.respond(410);
    await receive("Gone");
    await waitUntil(async () => !(await story.gateway.admin.getGlobalWebhook()).data.enabled);
    expect((await story.gateway.admin.getGlobalWebhook()).data.disabled_reason).toBe(
      "The receiver responded with 410.",
    );
    expect((await put({ enabled: true })).data).toMatchObject({ enabled: true, disabled_reason: null });
  });
});
