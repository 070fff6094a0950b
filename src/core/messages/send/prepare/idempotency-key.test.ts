import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../../test/database.ts";
import { fingerprint } from "../../../../platform/secrets/fingerprint.ts";
import { deleteExpiredKeys, findEarlierMessage, idempotencyOf } from "./idempotency-key.ts";

const ROUTE = "send-text";

interface Body {
  number?: string;
  text?: string;
  client_message_id?: string;
}

const BODY: Body = { number: "5511999990001", text: "Hi" };

let store: TestDatabase;
let message: number;

beforeAll(async () => {
  store = await createTestDatabase();
});
afterAll(() => store.drop());

beforeEach(async () => {
  await store.database.pool.query("truncate message, conversation, idempotency cascade");
  const { rows } = await store.database.pool.query<{ id: number }>(`
    with c as (
      insert into conversation (account_id, instance_id, type, jid)
      values (1, 4, 'contact', '5511999990001@s.whatsapp.net') returning id
    )
    insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
      content, status)
    select 1, 4, id, 'A1', 'outbound', true, 'api', '5511999990001@s.whatsapp.net', 'text',
      '{"kind": "text", "text": "Hi"}', 'sent' from c returning id`);
  message = Number(rows[0]?.id);
});

/** Stores the key of a request as a send does, `hoursAgo` in the past. */
async function storeKey(key: string, hoursAgo = 0, body: Body = BODY): Promise<void> {
  await store.database.pool.query(
    `insert into idempotency (account_id, instance_id, route, key, fingerprint, message, created_at)
     values (1, 4, $1, $2, $3, $4, now() - make_interval(secs => $5::float8 * 3600))`,
    [ROUTE, key, Buffer.from(fingerprint(body), "hex"), message, hoursAgo],
  );
}

const find = (header: string | undefined, body: Body = BODY, { route = ROUTE, instance = 4 } = {}) => {
  const key = idempotencyOf(route, header, body);
  if (!key) throw new Error("The request has no key.");
  return findEarlierMessage(store.database.db, instance, key);
};

describe("the idempotency key of a send", () => {
  test("is its header, with the fingerprint of the body", () => {
    expect(idempotencyOf(ROUTE, "k1", BODY)).toEqual({
      route: ROUTE,
      key: "key:k1",
      fingerprint: fingerprint(BODY),
    });
  });

  test("is the client's own message id if there is no header", () => {
    const input = { ...BODY, client_message_id: "m1" };
    expect(idempotencyOf(ROUTE, undefined, input)?.key).toBe("client:m1");
    expect(idempotencyOf(ROUTE, "k1", input)?.key).toBe("key:k1");
  });

  test.each([
    [undefined, {}],
    ["", { client_message_id: "" }],
  ] as const)("does not exist with the header %j and the fields %j", (header, input) => {
    expect(idempotencyOf(ROUTE, header, input)).toBeNull();
  });

  test("identifies the message of the first request for 24 hours", async () => {
    await storeKey("key:k1", 23.99);
    expect(await find("k1")).toMatchObject({ id: message, message_id: "A1" });
    await storeKey("key:k2", 24.01);
    expect(await find("k2")).toBeUndefined();
  });

  test("counts for its own route and its own instance only", async () => {
    await storeKey("key:k1");
    expect(await find("k2")).toBeUndefined();
    expect(await find("k1", BODY, { route: "send-media" })).toBeUndefined();
    expect(await find("k1", BODY, { instance: 5 })).toBeUndefined();
  });

  test("is rejected with another body", async () => {
    await storeKey("key:k1");
    await expect(find("k1", { ...BODY, text: "Bye" })).rejects.toMatchObject({
      code: "IDEMPOTENCY_MISMATCH",
      message: "The Idempotency-Key was already used with another body. Use a new key for a new request.",
    });
  });

  test("is rejected under the name of the field that it came in", async () => {
    await storeKey("client:m1");
    await expect(find(undefined, { ...BODY, text: "Bye", client_message_id: "m1" })).rejects.toMatchObject({
      message: "The client_message_id was already used with another body. Use a new id for a new message.",
    });
  });

  test("is free if its message was deleted, whatever the body", async () => {
    await storeKey("key:k1");
    await store.database.pool.query("delete from message");
    expect(await find("k1")).toBeUndefined();
    expect(await find("k1", { text: "Bye" })).toBeUndefined();
  });

  test("is deleted an hour after it has expired", async () => {
    await storeKey("key:k1", 24.9);
    await storeKey("key:k2", 25.1);
    await deleteExpiredKeys(store.database.db);
    const { rows } = await store.database.pool.query("select key from idempotency");
    expect(rows).toEqual([{ key: "key:k1" }]);
  });
});
