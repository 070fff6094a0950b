import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { digestApiKey } from "../instances/api-key.ts";
import { createCredentialCache } from "./credential-cache.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});

afterAll(() => gateway.stop());

test("a cached key is rejected from its expiry on", async () => {
  const { db } = gateway.database;
  const { id, api_key } = await gateway.createInstance();
  await gateway.owner.regenerateApiKey({ id, grace_seconds: 2 });
  const digest = digestApiKey(api_key);
  const credentials = createCredentialCache(db);
  expect(await credentials.findApiKey(digest)).toMatchObject({ instance_id: id });
  await waitUntil(async () => {
    const { rows } = await sql`select from api_key where digest = ${digest} and expires_at > now()`.execute(
      db,
    );
    return rows.length === 0;
  });
  expect(await credentials.findApiKey(digest)).toBeUndefined();
});
