import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { waitUntil } from "../test/gateway.ts";
import { type Receiver, startReceiver } from "../test/servers/receiver.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

describeInBrowser("the webhooks in the panel", () => {
  let story: PanelStory;
  let receiver: Receiver;

  beforeAll(async () => {
    story = await startPanelStory({ WAYGATE_RETRY_SCHEDULE: "1h", WAYGATE_WEBHOOK_TIMEOUT: "5s" });
  });
  afterAll(() => story.close());
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  async function addShop(name: string, input: Record<string, unknown> = {}) {
    const shop = await story.gateway.connectInstance({ name });
    const { data } = await shop.client.createWebhook({
      id: shop.id,
      name: "Orders",
      url: receiver.url,
      events: ["message.received"],
      ...input,
    });
    receiver.trust(data.secret);
    const say = (text: string) => shop.client.sandboxReceive({ id: shop.id, from: "5511977770001", text });
    const logs = async () => (await shop.client.listDeliveryLogs({ id: shop.id })).data;
    return { ...shop, webhook: data, say, logs };
  }

  test("a failed webhook is found, explained and sent again until it arrives", async () => {
    const { openPage, look, press, follow } = story;
    const shop = await addShop("Bakery");
    await receiver.shut();
    await shop.say("Two loaves, please");
    await waitUntil(async () => (await shop.logs()).length === 1);
    const page = await openPage(PHONE);
    await story.signIn(page, `instances/${shop.id}/webhooks`);
    await page.getByText("No delivery has arrived since the first failure").waitFor();
    await page.getByRole("heading", { name: "Nothing listens at this address" }).waitFor();
    await look(page, "webhooks-failing");
    await follow(page, "Open the failed delivery");
    await page.getByRole("heading", { name: "Delivery of message.received" }).waitFor();
    await page.getByText("Start your program, and check host and port").waitFor();
    await look(page, "webhook-attempt");
    await press(page, "Send it again");
    const failures = page.getByRole("heading", { name: "Nothing listens at this address" });
    await expect.poll(() => failures.count()).toBe(2);
    await receiver.open();
    await press(page, "Send it again");
    await page.getByText(/It arrived: status 200/).waitFor();
    await look(page, "webhook-retried");
    expect(receiver.of("message.received").map(({ body }) => body.data.message.text)).toEqual([
      "Two loaves, please",
    ]);
    await follow(page, "Addresses");
    await page.getByText("Working", { exact: true }).waitFor();
  });

  test("the first webhook is added with errors at its fields, and its test shows the response", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const shop = await gateway.connectInstance({ name: "Florist" });
    const page = await openPage(DESKTOP);
    await story.signIn(page, `instances/${shop.id}/webhooks`);
    await page.getByRole("heading", { name: "No webhook yet" }).waitFor();
    await look(page, "webhooks-empty");
    await follow(page, "Add the first webhook");
    await press(page, "Add the webhook");
    await page.getByText("Fill in this field.").first().waitFor();
    await page.getByLabel("Address of your program").fill("http://169.254.169.254/latest");
    await page.getByLabel("Name", { exact: true }).fill("Flower orders");
    await press(page, "Add the webhook");
    await page.getByText(/not allowed by the gateway's policy/).waitFor();
    const isFocused = () =>
      page.getByLabel("Address of your program").evaluate((field) => field.matches(":focus"));
    await expect.poll(isFocused).toBe(true);
    await look(page, "webhook-new");
    await page.getByLabel("Address of your program").fill(receiver.url);
    await page.getByLabel("Own headers").fill("Authorization: Bearer abc");
    await press(page, "Add the webhook");
    await page.getByRole("heading", { name: "Flower orders is added" }).waitFor();
    await press(page, "Send a test event");
    await page.getByText(/Your program answered with status 200 after/).waitFor();
    await page.getByRole("region", { name: "Body of the answer" }).getByText("ok").waitFor();
    await look(page, "webhook-made");
    const { data } = await gateway.owner.listWebhooks({ id: shop.id });
    expect(data).toMatchObject([{ name: "Flower orders", headers: { Authorization: "****" } }]);
    receiver.respond((_, response) => void response.writeHead(500).end("no such table: orders"));
    await press(page, "Send a test event");
    await page.getByRole("heading", { name: "Your program failed (status 500)" }).waitFor();
    await page.getByText("no such table: orders").waitFor();
    await look(page, "webhook-test-failed");
  });

  test("an unsaved webhook is discarded only after a confirmation, and a saved one without", async () => {
    const { gateway, openPage, press, follow } = story;
    const shop = await addShop("Atelier");
    const page = await openPage(DESKTOP);
    await story.signIn(page, `instances/${shop.id}/webhooks/${shop.webhook.id}/edit`);
    await page.getByRole("heading", { name: "Change Orders" }).waitFor();
    const leaving = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await page.getByText("The network accepted a message of the instance.").click();
    await follow(page, "Logs");
    await leaving.waitFor();
    await press(page, "Stay here");
    await follow(page, "Cancel");
    await leaving.waitFor();
    await press(page, "Stay here");
    await page.getByLabel("Name", { exact: true }).fill("Orders and receipts");
    await press(page, "Save");
    await page.waitForURL(`${story.url}instances/${shop.id}/webhooks/${shop.webhook.id}`);
    const { data } = await gateway.owner.listWebhooks({ id: shop.id });
    expect(data).toMatchObject([{ name: "Orders and receipts" }]);
    await follow(page, "Edit");
    await page.getByLabel("Name", { exact: true }).fill("Given up");
    await follow(page, "Logs");
    await leaving.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL(`${story.url}instances/${shop.id}/logs`);
  });

  test("after an outage the failed events are counted and sent again, and the charts show it", async () => {
    const { openPage, look, press, follow } = story;
    const shop = await addShop("Garage", { retry_enabled: false });
    receiver.respond(503);
    for (const text of ["One", "Two", "Three"]) await shop.say(text);
    await waitUntil(async () => (await shop.logs()).length === 3);
    const page = await openPage(DESKTOP);
    await story.signIn(page, `instances/${shop.id}/webhooks`);
    await follow(page, "Open: Orders");
    await page.getByText("3 events since then were given up.").waitFor();
    await look(page, "webhook");
    receiver.respond(200);
    await press(page, "Send 3 events again");
    await page.getByText("All 3 events have arrived.").waitFor();
    await page.getByText("Working", { exact: true }).waitFor();
    await look(page, "webhook-recovered");
    const latency = page.getByRole("figure", { name: /Time to answer/ });
    await latency.getByText("Show as a table").click();
    const cells = (await latency.locator("td").allTextContents()).slice(0, 4);
    expect(cells).toEqual(["—", "—", "—", "—"]);
    expect(await latency.locator("circle").count()).toBe(2);
    await page.getByLabel("Time", { exact: true }).selectOption("week");
    await expect.poll(() => page.url()).toContain("period=week");
  });

  test("an event that is still being retried is not counted as failed, and the page says so", async () => {
    const { openPage, look } = story;
    const shop = await addShop("Kiosk");
    receiver.respond(503);
    await shop.say("One");
    await waitUntil(async () => (await shop.logs()).length === 1);
    const page = await openPage(DESKTOP);
    await story.signIn(page, `instances/${shop.id}/webhooks/${shop.webhook.id}`);
    await page.getByText("No event since then was given up.").waitFor();
    await page.getByText("1 event is still being tried: the gateway repeats it by itself.").waitFor();
    await look(page, "webhook-still-tried");
  });

  test("a secret is rotated with an overlap for the previous one, and a webhook is paused and deleted", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const shop = await addShop("Tailor");
    const page = await openPage(PHONE);
    await story.signIn(page, `instances/${shop.id}/webhooks`);
    await follow(page, "Open: Orders");
    await press(page, "Replace the secret");
    await page.getByRole("dialog", { name: "Replace the secret of Orders?" }).waitFor();
    await look(page, "webhook-rotate");
    await press(page, "Replace it");
    const shown = page.getByRole("region", { name: "The new secret" });
    receiver.trust(((await shown.textContent()) ?? "").trim());
    await page.getByText(/deliveries carry a second signature with the previous secret/).waitFor();
    await shop.say("Signed twice");
    const [item] = await receiver.waitFor(({ body }) => body.event === "message.received");
    expect(item?.headers["x-waygate-signature-previous"]).toBeDefined();
    expect(receiver.forged).toEqual([]);
    await press(page, "Pause");
    await page.getByText("It is paused and gets no events.").waitFor();
    await press(page, "Activate");
    await press(page, "Delete");
    await page.getByRole("alertdialog", { name: "Delete Orders?" }).waitFor();
    await look(page, "webhook-delete");
    await press(page, "Delete the webhook");
    await page.getByRole("heading", { name: "No webhook yet" }).waitFor();
    expect((await gateway.owner.listWebhooks({ id: shop.id })).data).toEqual([]);
  });

  test("events and deliveries keep their filter in the URL, are exported, and are sent again to one webhook", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const shop = await addShop("Library", { retry_enabled: false });
    await shop.say("Arrives");
    await waitUntil(async () => (await shop.logs()).length === 1);
    receiver.respond(404);
    await shop.say("Fails");
    await waitUntil(async () => (await shop.logs()).length === 2);
    const second = await startReceiver();
    await gateway.owner.createWebhook({
      id: shop.id,
      name: "Archive",
      url: second.url,
      events: ["message.received"],
    });
    const page = await openPage(DESKTOP);
    await story.signIn(page, `instances/${shop.id}/webhooks`);
    await follow(page, "Deliveries");
    const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByText("Filter", { exact: true }).click();
    await page.getByLabel("Status code").selectOption("404");
    await expect.poll(() => rows.count()).toBe(1);
    expect(page.url()).toContain("status=404");
    await look(page, "webhook-attempts");
    const download = page.waitForEvent("download");
    await press(page, "Export as CSV");
    expect((await download).suggestedFilename()).toBe(`waygate-deliveries-${shop.id}.csv`);
    await follow(page, "Events");
    await page.getByRole("list", { name: "Events" }).waitFor();
    await page.getByText("Filter", { exact: true }).click();
    await page.getByLabel("State of the delivery").selectOption("failed");
    await look(page, "webhook-events");
    await page.getByRole("list", { name: "Events" }).getByRole("link", { name: "message.received" }).click();
    await page.getByText('"text": "Fails"').waitFor();
    await page.getByLabel("Send again to").selectOption({ label: "Archive" });
    await press(page, "Send again");
    await second.waitFor(({ body }) => body.data?.message?.text === "Fails");
    await page.getByText("Delivered", { exact: true }).waitFor();
    await look(page, "webhook-event");
    await second.close();
    await page.getByLabel("Send again to").selectOption({ label: "Archive" });
    expect(receiver.received.filter(({ body }) => body.data?.message?.text === "Fails")).toHaveLength(1);
  });

  test("the signature of a delivery is computed in the browser with a secret that never leaves it", async () => {
    const { openPage, look, press, follow } = story;
    const shop = await addShop("Notary");
    await shop.say("Sign this: çé");
    const [item] = await receiver.waitFor(({ body }) => body.event === "message.received");
    const signature = String(item?.headers["x-waygate-signature"]);
    const page = await openPage(PHONE);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
    await story.signIn(page, `instances/${shop.id}/webhooks`);
    await follow(page, "Deliveries");
    await page.getByRole("list", { name: "Deliveries" }).getByRole("link").click();
    await page.getByLabel("Secret of the webhook").fill(shop.webhook.secret);
    await page.getByLabel("Signature that your program got").fill(signature);
    await press(page, "Compute the signature");
    await page.getByRole("heading", { name: "The signature is genuine" }).waitFor();
    await look(page, "webhook-signature");
    await page.getByLabel("Secret of the webhook").fill(`${shop.webhook.secret}x`);
    await press(page, "Compute the signature");
    await page.getByRole("heading", { name: "The signature does not fit" }).waitFor();
    expect(sent.filter((text) => text.includes(shop.webhook.secret.slice(6, 30)))).toEqual([]);
  });

  test.each([
    ["pt-BR", "Nada escuta neste endereço", "Abrir a entrega que falhou", "Enviar de novo"],
    ["es", "Nadie escucha en esta dirección", "Abrir la entrega fallida", "Enviar de nuevo"],
  ])("a failed webhook is explained in %s too", async (locale, cause, link, again) => {
    const { openPage, look, follow } = story;
    const shop = await addShop("Padaria");
    await receiver.shut();
    await shop.say("Oi");
    await waitUntil(async () => (await shop.logs()).length === 1);
    const page = await openPage(PHONE, locale);
    await story.signIn(page, `instances/${shop.id}/webhooks`);
    await page.getByRole("heading", { name: cause }).waitFor();
    await look(page, `webhooks-failing-${locale}`);
    await follow(page, link);
    await page.getByRole("button", { name: again, exact: true }).waitFor();
    await look(page, `webhook-attempt-${locale}`);
  });
});
