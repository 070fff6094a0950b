import { expect, test } from "vitest";
import { startTestGateway } from "../../../test/gateway.ts";
import { startReceiver } from "../../../test/receiver.ts";
import { DELIVERY_HEADERS } from "./delivery-headers.ts";

test("a delivery has exactly the headers that the API describes, those of a previous secret too", async () => {
  const gateway = await startTestGateway();
  const receiver = await startReceiver();
  try {
    const { id, client } = await gateway.createInstance({ name: "Sales" });
    const { data } = await client.createWebhook({ id, name: "All", url: receiver.url });
    const rotated = await client.updateWebhook({ id, webhookId: data.id, rotate_secret: true });
    receiver.trust(data.secret, rotated.data.secret);
    await client.testWebhook({ id, webhookId: data.id });
    const [delivery] = receiver.received;
    const own = Object.keys(delivery?.headers ?? {}).filter((name) => /^(x-|webhook-)/.test(name));
    const described = DELIVERY_HEADERS.map(({ name }) => name).filter((name) => name !== "traceparent");
    expect(own.toSorted()).toEqual(described.toSorted());
  } finally {
    await gateway.stop();
    await receiver.close();
  }
});
