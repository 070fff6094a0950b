import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type MessagingStory, startMessagingStory } from "../../../test/stories/messaging-story.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});
afterAll(() => story.stop());

const overview = async () => (await story.gateway.owner.accountOverview()).data;

describe("the overview of an account", () => {
  it("counts the messages and the webhook attempts of each hour", async () => {
    const { sales, friend } = story;
    const { data } = await sales.client.sendText({ id: sales.id, number: friend.phone, text: "Hello" });
    await story.outcome(data.message_id ?? "");
    await story.arrived(data.message_id ?? "");
    await sql`update message set sent_at = sent_at - interval '3 hours' where direction = 'inbound'`.execute(
      story.gateway.database.db,
    );
    const { hours, is_complete, instances_by_status } = await overview();
    expect(hours).toHaveLength(24);
    expect(is_complete).toBe(true);
    expect(instances_by_status).toEqual({ connected: 2 });
    expect(hours.at(-1)).toMatchObject({ sent: 1, failed: 0, received: 0, failed_attempts: 0 });
    expect(hours.at(-1)?.delivered).toBeGreaterThan(0);
    expect(hours.at(-4)).toMatchObject({ sent: 0, received: 1 });
    const times = hours.map(({ hour }) => Date.parse(hour));
    expect(times.map((time) => time % 3_600_000)).toEqual(times.map(() => 0));
    expect(times.at(-1)).toBeGreaterThan(Date.now() - 2 * 3_600_000);
  });

  it("names what needs attention with what to do, and to agents nothing of webhooks", async () => {
    const { gateway, sales } = story;
    await sql`update instance set status = 'logged_out' where id = ${sales.id}`.execute(gateway.database.db);
    await sql`update webhook set failing_since = now() where instance_id = ${sales.id}`.execute(
      gateway.database.db,
    );
    const { alerts } = await overview();
    expect(alerts.map(({ key, instance_id }) => [key, instance_id])).toEqual([
      ["instance_lost", sales.id],
      ["webhook_failing", sales.id],
    ]);
    for (const { recommended_action } of alerts) expect(recommended_action.length).toBeGreaterThan(10);
    const email = "agent@example.com";
    await gateway.owner.createUser({ name: "Agent", email, password: PASSWORD });
    const { client } = await signIn(gateway.url, { email });
    expect((await client.accountOverview()).data.alerts.map(({ key }) => key)).toEqual(["instance_lost"]);
  });

  it("shows a reseller nothing of its customers", async () => {
    const { gateway, sales } = story;
    const email = "reseller@example.com";
    const { data } = await gateway.owner.createAccount({
      name: "Reseller",
      account_type: "reseller",
      email,
      password: PASSWORD,
    });
    const customer = await gateway.owner.createAccount({
      name: "Customer",
      parent_id: data.id,
      email: "customer@example.com",
      password: PASSWORD,
    });
    await sql`update instance set account_id = ${customer.data.id} where id = ${sales.id}`.execute(
      gateway.database.db,
    );
    const { client } = await signIn(gateway.url, { email });
    const shown = (await client.accountOverview()).data;
    expect([shown.alerts, shown.instances_by_status]).toEqual([[], {}]);
    const { client: own } = await signIn(gateway.url, { email: "customer@example.com" });
    expect((await own.accountOverview()).data.instances_by_status).toEqual({ logged_out: 1 });
  });
});
