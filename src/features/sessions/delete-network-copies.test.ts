import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MessagingStory, startMessagingStory, waitUntil } from "../../../test/messaging-story.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});
afterAll(() => story.stop());

const db = () => story.gateway.database.db;

describe("removing an instance that was logged out before", () => {
  test("deletes the sandbox network's copies of its messages, and no other copies", async () => {
    const [gone, stays] = [await story.join({ name: "Gone" }), await story.join({ name: "Stays" })];
    const customers = ["5511670001101", "5511670001102"];
    for (const [index, { id, client }] of [gone, stays].entries()) {
      const number = customers[index] ?? "";
      await client.sandboxReceive({ id, from: number, text: "Oi" });
      await client.sendText({ id, number, text: "Hello" });
      await waitUntil(async () => (await storedOf(id)) === 2);
    }
    const copiesOfGone = () => findCopies([gone.phone, customers[0] ?? ""]);
    const copiesOfOther = () => findCopies([stays.phone, customers[1] ?? ""]);
    expect([await copiesOfGone(), await copiesOfOther()]).toEqual([2, 2]);

    await gone.client.logoutInstance({ id: gone.id });
    await waitUntil(async () => (await phoneOf(gone.id)) === null);
    await gone.client.deleteInstance({ id: gone.id });

    expect([await copiesOfGone(), await copiesOfOther()]).toEqual([0, 2]);
    const { rows } = await sql`
      select from sandbox.ledger where device in (select id from sandbox.device where phone = ${gone.phone})`.execute(
      db(),
    );
    expect(rows).toEqual([]);
  });
});

async function storedOf(id: number): Promise<number> {
  return (await db().selectFrom("message").select("id").where("instance_id", "=", id).execute()).length;
}

async function phoneOf(id: number): Promise<string | null | undefined> {
  const row = await db().selectFrom("instance").select("phone").where("id", "=", id).executeTakeFirst();
  return row?.phone;
}

async function findCopies(phones: readonly string[]): Promise<number> {
  const { rows } = await sql`select from sandbox.message where phone = any(${phones})`.execute(db());
  return rows.length;
}
