import type { Db } from "../src/platform/db/database.ts";

/** An account without users on the first plan. */
export async function insertAccount(db: Db): Promise<number> {
  const { id } = await db
    .insertInto("account")
    .values({ name: "Shop", account_type: "client", plan_id: 1, settings: "{}" })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** An instance without lanes, which nothing connects. */
export async function insertInstance(
  db: Db,
  account_id: number,
  network: "sandbox" | "whatsapp" = "sandbox",
): Promise<number> {
  const { id } = await db
    .insertInto("instance")
    .values({
      account_id,
      lane: 0,
      global_lane: 0,
      name: "Sales",
      network,
      webhook_secret: Buffer.alloc(0),
      metadata: "{}",
      settings: "{}",
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}
