import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { newPhone, startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { startStatementMeter } from "../../../test/statement-meter.ts";
import type { Client } from "../../client/client.ts";
import { createAccount } from "../../core/accounts/users/create-account.ts";
import { LEAD_COLUMNS } from "../../platform/text/find-column-meanings.ts";

let gateway: TestGateway;
let owner: Client;
let stranger: Client;

beforeAll(async () => {
  gateway = await startTestGateway();
  owner = gateway.owner;
  const login = { email: "stranger@example.com", password: PASSWORD };
  await createAccount(gateway.database.db, { name: "Stranger", account_type: "client", ...login });
  stranger = (await signIn(gateway.url, login)).client;
});
afterAll(() => gateway.stop());

const toFile = (lines: readonly string[]) => ({
  file: { bytes: Buffer.from(lines.join("\n")), mime_type: "text/csv", file_name: "leads.csv" },
});

async function importOf(client: Client, ...lines: string[]) {
  return (await client.importLeads(toFile(lines))).data;
}

async function exported(client: Client, filter = {}): Promise<Record<string, string>[]> {
  const { bytes } = await client.exportLeads(filter);
  return parse(Buffer.from(bytes ?? []), { columns: true }) as Record<string, string>[];
}

/** Lines of an export with these cells. */
function toExport(...rows: Partial<Record<(typeof LEAD_COLUMNS)[number], unknown>>[]): string[] {
  return [LEAD_COLUMNS.join(), ...rows.map((row) => LEAD_COLUMNS.map((name) => row[name] ?? "").join())];
}

const UNWARNED = { warnings: [], warning_count: 0, assumed_country: null, ignored_columns: [] };

const countAll = async () =>
  (await gateway.database.pool.query("select count(*)::int as n, max(updated_at) as last from lead")).rows[0];

test("a CSV file creates leads, and updates leads by phone in any format", async () => {
  await owner.createCustomField({ name: "Size", type: "number" });
  const { data: known } = await owner.createLead({
    phone: "5511987654321",
    name: "Ana",
    tags: ["vip"],
    custom_fields: { City: "Recife" },
  });
  const done = await importOf(
    owner,
    "Phone;name;tags;custom_fields.Size;custom_fields.City;opted_out",
    "+55 (11) 8765-4321;;new; 3 ;;",
    "0055 21 98765-4322;Bia;a;;Olinda;true",
  );
  expect(done).toEqual({ created: 1, updated: 1, unchanged: 0, invalid: [], invalid_count: 0, ...UNWARNED });
  const { data } = await owner.listLeads();
  expect(data).toMatchObject([
    { phone: "5521987654322", name: "Bia", tags: ["a"], opted_out_at: expect.any(String) },
    { id: known.id, name: "Ana", tags: ["vip", "new"], custom_fields: { City: "Recife", Size: 3 } },
  ]);
});

test("a leads export that is imported again, here or twice elsewhere, changes nothing twice", async () => {
  const { bytes = new Uint8Array() } = await owner.exportLeads();
  const before = await countAll();
  const again = (await owner.importLeads({ file: { bytes, mime_type: "text/csv" } })).data;
  expect(again).toMatchObject({ created: 0, updated: 0, unchanged: 2, invalid_count: 0 });
  expect(await countAll()).toEqual(before);
  const there = { file: { bytes, mime_type: "text/csv" } };
  expect((await stranger.importLeads(there)).data).toMatchObject({ created: 2, updated: 0 });
  expect((await stranger.importLeads(there)).data).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
  const withoutIds = (rows: Record<string, string>[]) =>
    rows
      .map(({ id: _, opted_out_at, created_at, updated_at, ...rest }) => rest)
      .toSorted((a, b) => String(a.phone).localeCompare(String(b.phone)));
  expect(withoutIds(await exported(stranger))).toEqual(withoutIds(await exported(owner)));
});

test("a leads export with an erased person changes nothing, and without its ids that row is refused by its reason", async () => {
  const { data } = await owner.createLead({ phone: newPhone(), name: "Erased" });
  const phone = `anon-${"0a".repeat(10)}`;
  await gateway.database.pool.query("update lead set phone = $1 where id = $2", [phone, data.id]);
  const { bytes = new Uint8Array() } = await owner.exportLeads({ q: "Erased" });
  const lines = Buffer.from(bytes).toString().split("\n");
  expect(await importOf(owner, ...lines)).toMatchObject({ unchanged: 1, invalid: [] });
  expect(await importOf(owner, "phone,name", `${phone},Erased`)).toMatchObject({
    created: 0,
    invalid: [{ line: 2, reason: expect.stringContaining("data were erased") }],
  });
});

test("signs of the table in tags and fields come back from a leads export, so that it changes nothing", async () => {
  const lead = {
    tags: ["a;b", "c,d", '"quoted"', "e", '"; x', "=1;+2 y"],
    custom_fields: { Note: "l1\nl2\r\n\r\n=l3", Long: "x\n".repeat(50), Blank: " x " },
  };
  const { data } = await owner.createLead({ phone: newPhone(), name: "Signs", ...lead });
  const { bytes = new Uint8Array() } = await owner.exportLeads({ q: "Signs" });
  const file = { bytes, mime_type: "text/csv" };
  expect((await owner.importLeads({ file })).data).toMatchObject({ unchanged: 1, invalid_count: 0 });
  expect((await owner.getLeadDetails({ id: data.id })).data).toMatchObject(lead);
  expect((await stranger.importLeads({ file })).data).toMatchObject({ created: 1 });
  const { data: there } = await stranger.listLeads({ q: "Signs" });
  expect(there[0]).toMatchObject({ tags: lead.tags, custom_fields: { Note: "l1\nl2\n\n=l3" } });
  await stranger.deleteLead({ id: there[0]?.id ?? 0 });
  await owner.deleteLead({ id: data.id });
});

test.each([
  ["a list without names of columns", "Ana Reis,PHONE,vip"],
  [
    "the older export of Google Contacts",
    "Name,Given Name,Additional Name,Family Name,Yomi Name,Gender,Group Membership,E-mail 1 - Type,Phone 1 - Type,Phone 1 - Value\nAna Reis,Ana,,Reis,,,* myContacts,*,Mobile,PHONE",
  ],
  [
    "Google Contacts",
    "First Name,Middle Name,Last Name,Phonetic First Name,Labels,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value\nAna,,Reis,,* myContacts,,,Work,PHONE ::: +55 11 3333-0001",
  ],
  ["Outlook", "First Name,Last Name,Company,Home Phone,Mobile Phone,Notes\nAna,Reis,X,551133330001,PHONE,y"],
  [
    "vCards",
    "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Reis;Ana;;;\r\nFN:Ana Reis\r\nTEL;TYPE=CELL:+PHONE\r\nEND:VCARD\r\n",
  ],
  ["a shop", 'Nº celular|Cliente\n="PHONE"|="Ana Reis"'],
])("leads come from a file of %s, with their name and phone", async (_what, text) => {
  const phone = newPhone();
  expect(await importOf(owner, text.replace("PHONE", phone))).toMatchObject({ created: 1, invalid_count: 0 });
  const { data } = await owner.listLeads({ q: phone });
  expect(data).toMatchObject([{ phone, name: "Ana Reis" }]);
  await owner.deleteLead({ id: data[0]?.id ?? 0 });
});

test("bad CSV rows are listed with their line and the reason, and good rows are imported", async () => {
  const [good, twice] = [newPhone(), newPhone()];
  const done = await importOf(
    owner,
    "phone,email,custom_fields.Size",
    `${good},good@example.com,1`,
    "abc,,",
    `${newPhone()},nobody,`,
    `${newPhone()},,"1,5"`,
    `${twice},,`,
    `+${twice},,`,
    ",x@example.com,",
    `${newPhone()},,,,x`,
  );
  expect(done).toMatchObject({ created: 2, updated: 0, unchanged: 0, invalid_count: 6 });
  expect(done.invalid.map(({ line, reason }) => [line, reason])).toEqual([
    [3, expect.stringContaining("phone")],
    [4, "email: must be an e-mail address"],
    [5, "custom_fields.Size: must be a number such as 1.5"],
    [7, "names the same lead as line 6"],
    [8, "phone: is required"],
    [9, "has more cells than the first line, which has 3"],
  ]);
  expect((await owner.listLeads({ q: good })).data).toMatchObject([{ email: "good@example.com" }]);
});

test("a CSV row with a lead's id changes a lead without a phone, but never lifts an opt-out", async () => {
  const { data: lead } = await owner.createLead({ name: "No phone" });
  const { data: silent } = await owner.createLead({ phone: newPhone(), opted_out: true });
  const done = await importOf(
    owner,
    ...toExport({ ...lead, name: "Named", opted_out: false }, { phone: silent.phone, opted_out: false }),
  );
  expect(done).toMatchObject({ created: 0, updated: 1, unchanged: 1 });
  expect((await owner.getLeadDetails({ id: lead.id })).data.name).toBe("Named");
  expect((await owner.getLeadDetails({ id: silent.id })).data.opted_out_at).not.toBeNull();
});

test("an opt-out of an export counts wherever its column is, as a spreadsheet writes it, and by its time alone", async () => {
  const phones = [newPhone(), newPhone(), newPhone()];
  const [excel, time, none] = phones;
  const done = [
    await importOf(owner, "opted_out;name;phone", `VERDADEIRO;Ana;${excel}`),
    await importOf(owner, "opted_out_at,phone", `30/11/2026 10:00,${time}`, `,${none}`),
  ];
  expect(done).toMatchObject([{ created: 1 }, { created: 2, ignored_columns: [] }]);
  const found = await Promise.all(phones.map(async (q) => (await owner.listLeads({ q })).data[0]));
  expect(found.map((lead) => lead?.opted_out_at != null)).toEqual([true, true, false]);
});

test("an id changes no lead unless the row has the lead's time of creation, as an export has", async () => {
  const { data: lead } = await owner.createLead({ name: "Ana" });
  const { data: one } = await owner.createLead({ phone: newPhone() });
  const { data: two } = await owner.createLead({ phone: newPhone(), name: "Bia" });
  const { data: foreign } = await stranger.createLead({ name: "Not yours" });
  const [phone, silent] = [newPhone(), newPhone()];
  expect(
    await importOf(owner, "ID;Nome;Telefone", `${lead.id};Zulmira;`, `${two.id};Eva;${phone}`),
  ).toMatchObject({
    created: 1,
    updated: 0,
    invalid: [{ line: 2, reason: "phone: is required" }],
  });
  const created_at = new Date(Date.parse(lead.created_at) - 1).toISOString();
  const done = await importOf(
    owner,
    ...toExport(
      { id: lead.id, created_at, name: "Zulmira" },
      { id: lead.id, name: "Zulmira" },
      { ...foreign, name: "Zulmira" },
      { id: two.id, created_at, phone: silent, name: "Zulmira" },
      { id: two.id, created_at: two.created_at, phone: one.phone, name: "Zulmira" },
    ),
  );
  expect(done).toMatchObject({ created: 1, updated: 0, invalid_count: 4 });
  expect(done.invalid.map(({ reason }) => reason)).toEqual([
    `id: there is no lead ${lead.id} with this created_at`,
    "names the same lead as line 2",
    `id: there is no lead ${foreign.id} with this created_at`,
    `phone: is that of lead ${one.id}, but id names lead ${two.id}. Empty one of the two cells`,
  ]);
  const { data: leads } = await owner.listLeads();
  const names = new Map(leads.map(({ id, name }) => [id, name]));
  expect([lead, one, two].map(({ id }) => names.get(id))).toEqual(["Ana", null, "Bia"]);
});

test("an imported lead of a person who has opted out is opted out", async () => {
  const phone = newPhone();
  const { data } = await owner.createLead({ phone, opted_out: true });
  await owner.deleteLead({ id: data.id });
  await importOf(owner, "phone,name", `${phone},Back`);
  expect((await owner.listLeads({ q: phone })).data).toMatchObject([{ opted_out_at: expect.any(String) }]);
});

test("a plan's limit rejects the excess CSV rows, and the others are imported", async () => {
  const { rows } = await gateway.database.pool.query(
    "select count(*)::int as n from lead where account_id = 1",
  );
  const most = rows[0].n + 1;
  await gateway.database.pool.query("update plan set max_leads = $1 where name = 'unlimited'", [most]);
  const done = await importOf(owner, "phone", newPhone(), newPhone());
  expect(done).toMatchObject({
    created: 1,
    invalid_count: 1,
    invalid: [{ line: 3, reason: `The plan allows ${most} leads.` }],
  });
  await gateway.database.pool.query("update plan set max_leads = null where name = 'unlimited'");
});

test("columns of a CSV file that the gateway does not know are passed over and listed", async () => {
  const lines = ["ID;Telefone;Cidade;CPF;notes;;custom_fields.City", `7;${newPhone()};Recife;1;x;;Olinda`];
  expect(await importOf(owner, ...lines)).toMatchObject({
    created: 1,
    invalid_count: 0,
    ignored_columns: ["ID", "Cidade", "CPF", "notes"],
  });
  const own = await importOf(owner, ...toExport({ phone: newPhone() }));
  expect(own).toMatchObject({ created: 1, ignored_columns: [] });
});

test.each([
  ["no column that names a lead", ["name", "Ana"], "has no column named phone"],
  ["too many columns", [`phone${",".repeat(200)}`, "1"], "more than 128 columns"],
  [
    "too many rows",
    ["phone", ...Array.from({ length: 10_001 }, (_, n) => `55219${10_000_000 + n}`)],
    "10000 rows",
  ],
])("a CSV file with %s is rejected as a whole", async (_what, lines, reason) => {
  const before = await countAll();
  await expect(owner.importLeads(toFile(lines))).rejects.toMatchObject({
    status: 400,
    code: "VALIDATION_ERROR",
    message: expect.stringContaining(reason),
  });
  expect(await countAll()).toEqual(before);
});

test("an import of many rows costs as many statements as one of few", async () => {
  const meter = startStatementMeter(gateway.database.url);
  /** Half of the leads exist. */
  const costOf = async (count: number) => {
    const phones = Array.from({ length: count }, newPhone);
    await importOf(owner, "phone", ...phones.slice(count / 2));
    const lines = phones.map((phone) => `${phone},Name,true`);
    const { statements } = await meter.measure(1, async () => {
      const done = await importOf(owner, "phone,name,opted_out", ...lines);
      expect(done).toMatchObject({ created: count / 2, updated: count / 2 });
    });
    const senders = statements.map(({ sentBy }) => sentBy);
    const counted = /^(?:core|extensions).(crm|plans|consent|contacts|campaigns)/;
    return senders.filter((sender) => counted.test(sender));
  };
  try {
    const few = await costOf(100);
    expect(few.length).toBeGreaterThan(5);
    expect(await costOf(400)).toEqual(few);
  } finally {
    meter.stop();
  }
});

test("an import ends when its client leaves, and the rows under way are not imported", async () => {
  const { pool } = gateway.database;
  const { headers } = await signIn(gateway.url);
  const phone = newPhone();
  await pool.query(`
    create function wait_long() returns trigger language plpgsql as $$ begin perform pg_sleep(9); return null; end $$;
    create trigger wait_long before insert on lead for each statement execute function wait_long()`);
  const leaves = new AbortController();
  const leaving = fetch(`${gateway.url}/api/leads/import`, {
    method: "POST",
    headers: { ...headers, "content-type": "text/csv" },
    body: `phone\n${phone}`,
    signal: leaves.signal,
  });
  const findInsert = async () =>
    (
      await pool.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
      )
    ).rows[0]?.pid as number | undefined;
  await waitUntil(async () => (await findInsert()) !== undefined);
  const pid = await findInsert();
  leaves.abort();
  await expect(leaving).rejects.toThrow("aborted");
  await waitUntil(
    async () => (await pool.query("select from pg_stat_activity where pid = $1", [pid])).rowCount === 0,
  );
  await pool.query("drop function wait_long() cascade");
  expect((await owner.listLeads({ q: phone })).data).toEqual([]);
});

test("a leads export applies the filters, streams many rows, and contains no formula", async () => {
  await gateway.database.pool.query(
    `insert into lead (account_id, phone, name, tags)
     select 1, (5531900000000 + n)::text, '=1+' || n, '{bulk}' from generate_series(1, 1100) n`,
  );
  const rows = await exported(owner, { tag: "bulk" });
  expect(rows).toHaveLength(1_100);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(1_100);
  expect(rows.every(({ name }) => name?.startsWith("'=1+"))).toBe(true);
  expect(await exported(owner, { q: "5531900000007" })).toHaveLength(1);
  const { bytes } = await owner.exportLeads({ tag: "bulk" });
  const back = await owner.importLeads({ file: { bytes: bytes ?? new Uint8Array(), mime_type: "text/csv" } });
  expect(back.data).toMatchObject({ created: 0, updated: 0, unchanged: 1_100 });
});

test("a number without a country code waits for a confirmation, and an ambiguous one for its plus", async () => {
  const lines = [
    "phone,name",
    "(31) 98888-1111,Rui",
    "+351912000111,Eva",
    "51987654321,Lia",
    "123.456.789-09,Eli",
  ];
  await owner.updateAccount({ settings: { default_country: "br" } });
  const listed = (line: number, value: string, code: string, suggestion: string) =>
    expect.objectContaining({ line, value, code, suggestion });
  // Confirming a country does not tell which of two numbers it is, or whether it is one.
  const ambiguous = [
    listed(4, "51987654321", "ambiguous_country", "5551987654321"),
    listed(5, "123.456.789-09", "ambiguous_number", "12345678909"),
  ];
  expect(await importOf(owner, ...lines)).toMatchObject({
    created: 1,
    invalid_count: 0,
    assumed_country: "BR",
    warning_count: 3,
    warnings: [listed(2, "(31) 98888-1111", "assumed_country", "5531988881111"), ...ambiguous],
  });
  const { data } = await owner.importLeads({ ...toFile(lines), confirm_assumed: true });
  expect(data).toMatchObject({ created: 1, unchanged: 1, warning_count: 2, warnings: ambiguous });
  const { data: leads } = await owner.listLeads({ q: "Rui" });
  expect(leads.map(({ phone }) => phone)).toEqual(["5531988881111"]);
  expect((await owner.createLead({ phone: "(31) 98888-2222" })).data.phone).toBe("5531988882222");
  await owner.updateAccount({ settings: { default_country: null } });
  await expect(owner.createLead({ phone: "(31) 98888-3333" })).rejects.toMatchObject({
    details: { fields: [{ field: "phone", code: "no_country_code" }] },
  });
});

test("a row with a NUL, or with an emoji where its shown text ends, is imported", async () => {
  const [nul, cut] = [newPhone(), newPhone()];
  const name = "x".repeat(100 - cut.length - 2);
  const done = await importOf(
    owner,
    "phone,name,custom_fields.Ci\0ty",
    `${nul},B\0ia,Na\0tal`,
    `${cut},${name}\u{1f600},`,
  );
  expect(done).toMatchObject({ created: 2, invalid_count: 0 });
  const { data } = await owner.listLeads({ q: nul });
  expect(data).toMatchObject([{ name: "Bia", custom_fields: { City: "Natal" } }]);
});

test("an export has international numbers, which need no confirmation, and the lead's own digits stay its phone", async () => {
  await owner.updateAccount({ settings: { default_country: "BR" } });
  const { data } = await owner.createLead({ phone: "+51987654399", name: "Whole" });
  const { bytes = new Uint8Array() } = await owner.exportLeads({ q: "51987654399" });
  expect(Buffer.from(bytes).toString()).toContain(`${data.id},+51987654399,`);
  const file = { bytes, mime_type: "text/csv" };
  expect((await owner.importLeads({ file })).data).toMatchObject({ unchanged: 1, warning_count: 0 });
  const change = { id: data.id, phone: "51987654399", email: "whole@example.com" };
  expect((await owner.updateLead(change)).data).toMatchObject({ phone: "51987654399" });
  await expect(owner.createLead({ phone: "51987654398" })).rejects.toThrow("can be +51987654398");
  const link = `https://wa.me/%2B51987654399?text=${"a".repeat(100)}`;
  expect((await owner.updateLead({ id: data.id, phone: link })).data).toMatchObject({ phone: "51987654399" });
  await owner.updateAccount({ settings: { default_country: null } });
});

test("the query beside a CSV body confirms the country of its numbers", async () => {
  const { headers } = await signIn(gateway.url);
  await owner.updateAccount({ settings: { default_country: "BR" } });
  const importWith = async (query: string) => {
    const response = await fetch(`${gateway.url}/api/leads/import?${query}`, {
      method: "POST",
      headers: { ...headers, "content-type": "text/csv" },
      body: "phone\n(21) 98123-4567",
    });
    return ((await response.json()) as { data: object }).data;
  };
  expect(await importWith("confirm_assumed=false")).toMatchObject({ created: 0, warning_count: 1 });
  expect(await importWith("confirm_assumed=1")).toMatchObject({ created: 1, warning_count: 0 });
  await owner.updateAccount({ settings: { default_country: null } });
});

test("an import with long names of columns compares each name a few times, however many there are", async () => {
  const charactersOf = async (columns: number) => {
    const names = Array.from({ length: columns }, (_, at) => `c${at}${"각".repeat(450)}`);
    let characters = 0;
    const normalize = String.prototype.normalize;
    const spy = vi.spyOn(String.prototype, "normalize").mockImplementation(function (this: string, ...form) {
      characters += this.length;
      return normalize.apply(this, form);
    });
    try {
      const { ignored_columns } = await importOf(owner, ["phone", ...names].join(), "5511987650001");
      expect(ignored_columns).toHaveLength(columns);
    } finally {
      spy.mockRestore();
    }
    return characters;
  };
  expect(await charactersOf(120)).toBeLessThan(6 * (await charactersOf(30)));
});
