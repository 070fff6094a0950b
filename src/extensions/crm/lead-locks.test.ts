import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { newPhone, waitUntil } from "../../../test/gateway.ts";
import { insertInstance } from "../../../test/rows.ts";
import { PASSWORD } from "../../../test/sign-in.ts";
import { createAccount } from "../../core/accounts/users/create-account.ts";
import type { InboundRow } from "../../core/messages/inbound/insert-inbound-messages.ts";
import type { Trx } from "../../platform/db/database.ts";
import { createSecretBox } from "../../platform/secrets/secret-box.ts";
import { LEAD_COLUMNS } from "../../platform/text/find-column-meanings.ts";
import { createSuppressionList, type SuppressionList } from "../consent/consent.ts";
import { addPhonesToLeads } from "./add-phones-to-leads.ts";
import { createLeadFollower } from "./lead-follower.ts";
import { leadHandlers } from "./lead-handlers.ts";
import { createLeadImporter } from "./lead-importer.ts";

let store: TestDatabase;
let suppression: SuppressionList;
let account_id: number;

beforeAll(async () => {
  store = await createTestDatabase();
  suppression = await createSuppressionList(
    store.database.db,
    createSecretBox("kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4"),
  );
});
afterAll(() => store?.drop());

beforeEach(async () => {
  const login = { email: `${newPhone()}@example.com`, password: PASSWORD };
  const added = await createAccount(store.database.db, { name: "Race", account_type: "client", ...login });
  account_id = added.account_id;
});

async function rows<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
  return (await store.database.pool.query(text, values)).rows;
}

async function addLead(columns: { phone?: string; lid?: string }): Promise<number> {
  const [lead] = await rows<{ id: number }>(
    "insert into lead (account_id, phone, lid) values ($1, $2, $3) returning id",
    account_id,
    columns.phone ?? null,
    columns.lid ?? null,
  );
  return Number(lead?.id);
}

const deps = () => ({ db: store.database.db, suppression, findCountry: async () => undefined });
const caller = () => ({ kind: "user", account_id, instance_ids: null });

function importLeads(...lines: string[]) {
  const file = { bytes: Buffer.from(lines.join("\n")), mime_type: "text/csv", file_name: "leads.csv" };
  return createLeadImporter(deps())({ input: { file }, caller: caller() } as never);
}

/** The changed lead, or the code of the refusal. */
function changeLead(id: number, change: { phone: string; opted_out?: boolean }) {
  return leadHandlers(deps())
    .updateLead({ input: { id, ...change }, caller: caller() } as never)
    .catch((error) => error.code);
}

/** Applies inbound messages of these people. */
function follow(trx: Trx, ...messages: [phone: string, text: string][]) {
  return createLeadFollower(suppression)(
    trx,
    messages.map(([chat_phone, text]) => {
      const content = { kind: "text", text };
      const from = { account_id, creates_leads: true, chat_type: "contact", chat_phone, jid: "" };
      return { ...from, content } as unknown as InboundRow;
    }),
  );
}

/** Waits until so many transactions wait for a lock. */
async function waiting(count: number): Promise<void> {
  const found = () =>
    rows("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
  await waitUntil(async () => (await found()).length === count);
}

const leads = () =>
  rows(
    "select phone, name, opted_out_at is not null as out from lead where account_id = $1 order by id",
    account_id,
  );

/** An import that has created a lead of `fresh`, and changes the lead `later` when the transaction ends. */
async function startImport(trx: Trx, fresh: string, later: () => Promise<number>) {
  const held = await addLead({ phone: newPhone() });
  const last = await later();
  await trx.selectFrom("lead").select("id").where("id", "=", held).forUpdate().execute();
  const created = await rows<{ id: number; created_at: Date }>(
    "select id, created_at from lead where id in ($1, $2) order by id",
    held,
    last,
  );
  const known = created.map(({ id, created_at }, at) => ({
    id,
    created_at: created_at.toISOString(),
    name: ["Held", "Last"][at],
  }));
  const lines = [{ phone: fresh, name: "New" }, ...known].map((row: object) =>
    LEAD_COLUMNS.map((name) => new Map(Object.entries(row)).get(name)).join(),
  );
  const imported = importLeads(LEAD_COLUMNS.join(), ...lines);
  await waiting(1);
  return { imported, last };
}

describe("an import of leads", () => {
  test("changes a lead that an inbound message has created meanwhile, and keeps its opt-out", async () => {
    const [known, stranger] = [newPhone(), newPhone()];
    await addLead({ phone: known });
    const trx = await store.database.db.startTransaction().execute();
    await follow(trx, [stranger, "Hello"]);
    const imported = importLeads("phone,name", `${stranger},New`, `${known},Known`);
    await waiting(1);
    // A transaction that locked the known lead first would deadlock with this one.
    await follow(trx, [known, "STOP"]);
    await trx.commit().execute();
    expect(await imported).toMatchObject({ created: 0, updated: 2, invalid_count: 0 });
    expect(await leads()).toEqual([
      { phone: known, name: "Known", out: true },
      { phone: stranger, name: "New", out: false },
    ]);
  });

  test("goes on beside a user who gives one of its leads the phone of another, and who is refused", async () => {
    const fresh = newPhone();
    const trx = await store.database.db.startTransaction().execute();
    const { imported, last } = await startImport(trx, fresh, () => addLead({ phone: newPhone() }));
    const changed = changeLead(last, { phone: fresh });
    await waiting(2);
    await trx.commit().execute();
    expect(await imported).toMatchObject({ created: 1, updated: 2, invalid_count: 0 });
    expect(await changed).toBe("CONFLICT");
  });

  test("goes on beside the merge of one of its leads with another, which follows", async () => {
    const [fresh, lid] = [newPhone(), `${newPhone()}@lid`];
    const instance = await insertInstance(store.database.db, account_id);
    await rows(
      "insert into contact (account_id, instance_id, jid, lid, phone) values ($1, $2, $3, $4, $5)",
      account_id,
      instance,
      `${fresh}@s.whatsapp.net`,
      lid,
      fresh,
    );
    const trx = await store.database.db.startTransaction().execute();
    const { imported } = await startImport(trx, fresh, () => addLead({ lid }));
    const merged = addPhonesToLeads(store.database.db, suppression);
    await waiting(2);
    await trx.commit().execute();
    expect(await imported).toMatchObject({ created: 1, updated: 2, invalid_count: 0 });
    await merged;
    expect(await leads()).toMatchObject([{ name: "Held" }, { phone: fresh, name: "New" }]);
  });
});

describe("a user who gives a lead another phone and opts it out", () => {
  test("is refused if inbound messages make a lead of that phone meanwhile, and opt it out", async () => {
    const fresh = newPhone();
    const id = await addLead({ phone: newPhone() });
    const trx = await store.database.db.startTransaction().execute();
    await follow(trx, [fresh, "Hello"]);
    const changed = changeLead(id, { phone: fresh, opted_out: true });
    await waiting(1);
    await follow(trx, [fresh, "STOP"]);
    await trx.commit().execute();
    expect(await changed).toBe("CONFLICT");
    expect((await leads()).at(-1)).toMatchObject({ phone: fresh, out: true });
  });
});
