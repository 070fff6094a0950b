import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

describe("the gateway's own receiver", () => {
  test("gets signed webhooks through the usual delivery, and shows headers and the exact body", async () => {
    const { id } = await gateway.connectInstance();
    const { data: opened } = await gateway.owner.openReceiver({ id });
    expect(opened).toMatchObject({ secret: expect.stringMatching(/^whsec_.{40,}$/), received: [] });
    await gateway.owner.sandboxReceive({ id, from: "5511977770001", text: "Olá" });
    const read = async () => (await gateway.owner.getReceiver({ id })).data.received;
    await waitUntil(async () => (await read()).some(({ event }) => event === "message.received"));
    const got = (await read()).find(({ event }) => event === "message.received");
    const { headers = {}, body, ...rest } = got ?? {};
    const hmac = createHmac("sha256", opened.secret)
      .update(body ?? "")
      .digest("hex");
    expect(headers["x-waygate-signature"]).toBe(`sha256=${hmac}`);
    expect(headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "x-waygate-event": "message.received",
      "x-waygate-attempt": "1",
      "webhook-signature": expect.stringMatching(/^v1,/),
    });
    expect(JSON.parse(body ?? "{}").data.message.text).toBe("Olá");
    expect(rest).toMatchObject({ attempt: 1, event_id: headers["webhook-id"] });
    const { data: logs } = await gateway.owner.listDeliveryLogs({ id, webhook_id: opened.webhook_id });
    expect(logs).toMatchObject([{ success: true, status_code: 200, attempt: 1 }]);
  });

  test("is opened once, is a webhook like others, and ends when that is removed", async () => {
    const { id } = await gateway.connectInstance();
    await expect(gateway.owner.getReceiver({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { data: one } = await gateway.owner.openReceiver({ id });
    const { data: other } = await gateway.owner.openReceiver({ id });
    expect(other.webhook_id).toBe(one.webhook_id);
    const { data: webhooks } = await gateway.owner.listWebhooks({ id });
    expect(webhooks).toMatchObject([{ id: one.webhook_id, name: "Gateway receiver" }]);
    expect(webhooks[0]?.secret).not.toBe(one.secret);
    await gateway.owner.deleteWebhook({ id, webhookId: one.webhook_id });
    await expect(gateway.owner.getReceiver({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
