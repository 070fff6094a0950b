import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { createSecretBox } from "../../platform/secrets/secret-box.ts";
import { appendAuditChain } from "./append-audit-chain.ts";
import { type AuditEntry, fieldNamesOf, recordAudit } from "./audit.ts";
import { verifyAudit } from "./verify-audit.ts";

const box = createSecretBox("8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e");
let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => tamper("truncate audit, audit_pending, audit_seal restart identity"));

const ENTRY: AuditEntry = {
  by: {
    caller: {
      kind: "user",
      account_id: 3,
      account_type: "client",
      user_id: 7,
      role: "admin",
      instance_ids: null,
      sign_in: "s1",
      is_fresh: true,
    },
    ip: "192.0.2.1",
    request_id: "req_1",
  },
  action: "instance.logout",
  target: { type: "instance", id: 17 },
  account_id: 3,
  fields: ["status", "jid"],
};

async function record(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await recordAudit(test.database.db, ENTRY);
}

const verify = (head?: string) => verifyAudit(test.database.db, box, { head });

/** Changes rows as the database's owner can. */
async function tamper(statement: string): Promise<void> {
  await sql`set session_replication_role = replica; ${sql.raw(statement)}; set session_replication_role = origin`.execute(
    test.database.db,
  );
}

describe("the audit log", () => {
  it("records actor, credential, address and the names of changed fields", async () => {
    await record(1);
    await recordAudit(test.database.db, {
      by: {
        caller: {
          kind: "key",
          account_id: 3,
          instance_id: 17,
          key_id: 5,
          scope: "instance",
          may_manage: true,
        },
      },
      action: "api_key.regenerate",
      target: { type: "instance", id: 17 },
      account_id: 3,
    });
    const rows = await test.database.db.selectFrom("audit").selectAll().orderBy("id").execute();
    expect(rows).toMatchObject([
      {
        actor: "user",
        actor_id: 7,
        credential_id: "s1",
        action: "instance.logout",
        account_id: 3,
        target_type: "instance",
        target_id: "17",
        fields: ["status", "jid"],
        ip: "192.0.2.1",
        request_id: "req_1",
      },
      { actor: "key", actor_id: 17, credential_id: "5", fields: [], ip: null, request_id: null },
    ]);
  });

  it("has no entry for a transaction that was rolled back", async () => {
    const work = test.database.db.transaction().execute(async (trx) => {
      await recordAudit(trx, ENTRY);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    await appendAuditChain(test.database.db, box);
    expect(await verify()).toMatchObject({ links: 0, pending: 0, broken: undefined });
  });

  it.each([
    "update audit set action = 'x.y'",
    "delete from audit",
    "truncate audit",
    "update audit_seal set hash = ''",
    "delete from audit_seal",
    "truncate audit_seal",
  ])("rejects: %s", async (statement) => {
    await record(1);
    await appendAuditChain(test.database.db, box);
    await expect(test.database.pool.query(statement)).rejects.toThrow("append-only");
  });

  it("allows only addresses to be erased, in a transaction that declares the erasure", async () => {
    const { db } = test.database;
    await record(1);
    await appendAuditChain(db, box);
    const erase = (change: string) =>
      db.transaction().execute(async (trx) => {
        await sql`set local waygate.erasing = 'on'`.execute(trx);
        await sql`update audit set ${sql.raw(change)}`.execute(trx);
      });
    await expect(erase("ip = null, action = 'x.y'")).rejects.toThrow("append-only");
    await expect(erase("ip = '192.0.2.9'")).rejects.toThrow("append-only");
    await erase("ip = null");
    expect(await verify()).toMatchObject({ links: 1, broken: undefined });
  });

  it("names the given fields of a request, except for ids", () => {
    expect(fieldNamesOf({ id: 1, name: "x", url: undefined, events: [] }, "id")).toEqual(["name", "events"]);
  });
});

describe("the chain of the audit log", () => {
  it("includes every entry once, whatever the order of commits and however many nodes append", async () => {
    const { db } = test.database;
    await record(2);
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begun = () => {};
    const has_begun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const late = db.transaction().execute(async (trx) => {
      await recordAudit(trx, ENTRY);
      begun();
      await held;
    });
    await has_begun;
    await record(3);
    await Promise.all([appendAuditChain(db, box), appendAuditChain(db, box), appendAuditChain(db, box)]);
    expect(await verify()).toMatchObject({ links: 5, pending: 0, broken: undefined });
    finish();
    await late;
    expect(await verify()).toMatchObject({ links: 5, pending: 1, broken: undefined });
    await appendAuditChain(db, box);
    expect(await verify()).toMatchObject({ links: 6, pending: 0, broken: undefined });
  });

  it.each([
    ["update audit set action = 'x.y' where id = 3", { position: 3, audit_id: 3, reason: "changed" }],
    ["update audit set fields = '{}' where id = 2", { position: 2, audit_id: 2, reason: "changed" }],
    ["delete from audit where id = 2", { position: 2, audit_id: 2, reason: "was removed" }],
    ["delete from audit_seal where audit_id = 2", { position: 3, audit_id: 3, reason: "link 2 is missing" }],
    ["update audit_seal set hash = '' where position = 4", { position: 4, audit_id: 4, reason: "changed" }],
    ["delete from audit_seal where position = 4", { position: null, audit_id: 4, reason: "never linked in" }],
    [
      "insert into audit (action, actor, target_type, fields) values ('x.y', 'system', 'x', '{}')",
      { position: null, audit_id: 5, reason: "never linked in" },
    ],
  ])("names the first broken entry after: %s", async (statement, { reason, ...where }) => {
    await record(4);
    await appendAuditChain(test.database.db, box);
    await tamper(statement);
    const { broken } = await verify();
    expect(broken).toMatchObject({ ...where, reason: expect.stringContaining(reason) });
  });

  it("detects a truncated log by a head that was stored elsewhere", async () => {
    await record(3);
    await appendAuditChain(test.database.db, box);
    const { head } = await verify();
    await record(1);
    await appendAuditChain(test.database.db, box);
    expect((await verify(head)).broken).toBeUndefined();
    await tamper("delete from audit where id >= 3; delete from audit_seal where audit_id >= 3");
    expect((await verify()).broken).toBeUndefined();
    expect((await verify(head)).broken).toMatchObject({ reason: "the given head is not in the chain" });
  });
});
