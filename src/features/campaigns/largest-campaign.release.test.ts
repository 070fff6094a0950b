import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import type { Client } from "../../client/client.ts";

let gateway: TestGateway;
let shop: TestInstance;
let owner: Client;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
  owner = gateway.owner;
});
afterAll(() => gateway.stop());

async function createCampaign(): Promise<number> {
  const { data } = await owner.createCampaign({
    name: "Spring",
    instance_id: shop.id,
    message_template: "Hello {{name}}",
    min_delay_ms: 0,
    max_delay_ms: 0,
  });
  return data.id;
}

const totalsOf = async (id: number) => (await owner.getCampaign({ id })).data.totals;

describe("campaign recipients", () => {
  test("are accepted up to 50,000 per request, which does not delay a send of the API", async () => {
    const id = await createCampaign();
    // From 10 on, beyond the numbers that the sandbox treats in a special way.
    const numbers = Array.from({ length: 50_000 }, (_, n) => `55118${String(n + 10).padStart(8, "0")}`);
    expect((await owner.addRecipients({ id, numbers })).data).toMatchObject({
      inserted: 50_000,
      total: 50_000,
    });
    const tooMany = owner.addRecipients({ id, numbers: [...numbers, "5511999990000"] });
    await expect(tooMany).rejects.toMatchObject({ status: 400 });
    await owner.startCampaign({ id });
    await waitUntil(async () => (await totalsOf(id)).sent > 0);
    const sent = await shop.client.sendText({ id: shop.id, number: newPhone(), text: "Now" });
    // The receipts may have arrived before the response.
    expect(sent.data).toMatchObject({ status: expect.stringMatching(/^(sent|delivered|read)$/) });
    expect((await totalsOf(id)).pending).toBeGreaterThan(0);
    await owner.cancelCampaign({ id });
    await waitUntil(async () => (await totalsOf(id)).queued === 0);
    const totals = await totalsOf(id);
    expect(totals).toMatchObject({ total: 50_000, pending: 0 });
    expect(totals.sent + totals.failed + totals.cancelled).toBe(50_000);
  });

  test("are accepted up to 50,000 per request with ten variables each", async () => {
    const id = await createCampaign();
    const variables = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`v${n}`, "x"]));
    const recipients = Array.from({ length: 50_000 }, (_, n) => ({
      phone: 5_521_900_000_000 + n,
      variables,
    }));
    const { data } = await owner.addRecipients({ id, recipients });
    expect(data).toMatchObject({ inserted: 50_000, invalid_count: 0 });
  });
});
