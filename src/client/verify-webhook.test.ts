import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../test/servers/receiver.ts";
import { verifyWebhook } from "./client.ts";

describe("webhook deliveries of a gateway", () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  beforeAll(async () => {
    [gateway, receiver] = await Promise.all([startTestGateway(), startReceiver()]);
  });
  afterAll(async () => {
    await gateway.stop();
    await receiver.close();
  });

  test("pass verification, also while the secret is being changed", async () => {
    const shop = await gateway.connectInstance({ webhook_url: receiver.url });
    const receive = async (text: string) => {
      await shop.client.sandboxReceive({ id: shop.id, from: "5511988887777", text });
      const [item] = await receiver.waitFor(({ body }) => body?.data?.message?.text === text);
      return { headers: item?.headers ?? {}, body: item?.raw ?? "" };
    };
    const old = shop.webhook_secret;
    const event = await verifyWebhook(await receive("Olá 👋"), { secret: old });
    expect(event).toMatchObject({ event: "message.received", instance: { id: shop.id } });
    expect(event.data.message?.text).toBe("Olá 👋");

    const [webhook] = (await shop.client.listWebhooks({ id: shop.id })).data;
    const { data } = await shop.client.updateWebhook({
      id: shop.id,
      webhookId: webhook?.id ?? 0,
      rotate_secret: true,
    });
    const secret = data.secret ?? "";
    const request = await receive("Under two secrets");
    for (const scheme of ["standard", "body"] as const) {
      for (const known of [old, secret, [secret, old], ["whsec_other", old]]) {
        expect(await verifyWebhook(request, { secret: known, scheme })).toBeTypeOf("object");
      }
      await expect(verifyWebhook(request, { secret: "whsec_other", scheme })).rejects.toThrow(
        "does not match",
      );
    }
  });
});
