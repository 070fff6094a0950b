import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance } from "../../../test/gateway.ts";
import { markSeenInstances } from "./mark-seen-instances.ts";

let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  shop = await gateway.connectInstance();
});
afterAll(() => gateway.stop());

/** How many minutes ago the session was last seen, after maintenance saw it the given minutes ago. */
async function seenAfterUpkeep(minutes: number): Promise<number> {
  const { db } = gateway.database;
  await sql`
    update instance set last_seen_at = now() - ${minutes} * interval '1 minute' where id = ${shop.id}`.execute(
    db,
  );
  await markSeenInstances(db);
  const { data } = await shop.client.getInstance({ id: shop.id });
  return Math.round((Date.now() - Date.parse(data.last_seen_at ?? "")) / 60_000);
}

test("last_seen_at advances while the session is alive, at most every five minutes", async () => {
  expect(await seenAfterUpkeep(60)).toBe(0);
  expect(await seenAfterUpkeep(4)).toBe(4);
});

test("last_seen_at does not advance once the session or its node is gone", async () => {
  const { db } = gateway.database;
  await sql`update instance set status = 'disconnected' where id = ${shop.id}`.execute(db);
  expect(await seenAfterUpkeep(60)).toBe(60);
  await sql`update instance set status = 'connected' where id = ${shop.id}`.execute(db);
  expect(await seenAfterUpkeep(60)).toBe(0);
});
