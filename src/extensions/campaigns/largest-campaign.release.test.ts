import { describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../../../test/gateway.ts";
import { setUpCampaignStory } from "../../../test/stories/campaign-story.ts";

const story = setUpCampaignStory();

describe("campaign recipients", () => {
  test("are accepted up to 50,000 per request, which does not delay a send of the API", async () => {
    const { owner, shop, totals: totalsOf } = story;
    const id = await story.create();
    // Numbers from 10 on have no special behaviour in the sandbox.
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
    // The receipts may arrive before the response.
    expect(sent.data).toMatchObject({ status: expect.stringMatching(/^(sent|delivered|read)$/) });
    expect((await totalsOf(id)).pending).toBeGreaterThan(0);
    await owner.cancelCampaign({ id });
    await story.drained(id);
    const totals = await totalsOf(id);
    expect(totals).toMatchObject({ total: 50_000, pending: 0 });
    expect(totals.sent + totals.failed + totals.cancelled).toBe(50_000);
  });

  test("are accepted up to 50,000 per request with ten variables each", async () => {
    const id = await story.create();
    const variables = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`v${n}`, "x"]));
    const recipients = Array.from({ length: 50_000 }, (_, n) => ({
      phone: 5_521_900_000_000 + n,
      variables,
    }));
    const { data } = await story.owner.addRecipients({ id, recipients });
    expect(data).toMatchObject({ inserted: 50_000, invalid_count: 0 });
  });
});
