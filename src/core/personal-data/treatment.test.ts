import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
// Fills the declarations of extensions.
import "../../processes/extensions.ts";
import { declaredTables } from "../declared-tables.ts";
import { columnsOf } from "./personal-data.ts";
import {
  type AnonymisationPart,
  assignments,
  CONTENT_TREATMENT,
  ERROR_TREATMENT,
  EVENT_BODY_TREATMENT,
  emptied,
  eraseValue,
  numberedName,
  pseudonymousAddress,
  pseudonymousAddressIfAny,
  replaceWith,
  reworded,
  SENDER_TREATMENT,
  type Treatment,
} from "./treatment.ts";

let store: TestDatabase;

beforeAll(async () => {
  store = await createTestDatabase();
});
afterAll(() => store.drop());
beforeEach(() => store.database.pool.query("truncate pseudonym"));

const asked = (parts: AnonymisationPart[], request = 1) => ({ request, parts: new Set(parts) });

/** A column's value after its treatment, in row 4 of instance 9. */
async function treat<Value>(
  { parts, to }: Treatment,
  value: RawBuilder<unknown>,
  request = asked([...parts]),
): Promise<Value> {
  const { rows } = await sql<{ treated: Value }>`
    select ${to("held", request)} as treated from (select 4 as id, 9 as instance_id, ${value} as held) t`.execute(
    store.database.db,
  );
  return rows[0]?.treated as Value;
}

const text = (value: string | null) => sql`${value}::text`;
const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;

describe("a personal value", () => {
  test("is erased, emptied, reworded or replaced, as its column says", async () => {
    expect(await treat(eraseValue("leads"), text("Bia"))).toBeNull();
    expect(await treat(emptied("leads"), json({ city: "Recife" }))).toEqual({});
    expect(await treat(reworded("leads"), text("Hi Bia"))).toBe("anonymized");
    expect(await treat(replaceWith(sql`'expired'`, "leads"), text("stored"))).toBe("expired");
    expect(await treat(numberedName("account"), text("Bia's shop"))).toBe("anon-4");
  });

  test("is declared with the parts that ask for its treatment", () => {
    const parts: AnonymisationPart[] = ["leads", "account"];
    for (const treatment of [
      eraseValue,
      emptied,
      reworded,
      numberedName,
      pseudonymousAddress,
      pseudonymousAddressIfAny,
    ])
      expect(treatment(...parts).parts).toEqual(parts);
    expect(replaceWith(sql`1`, ...parts).parts).toEqual(parts);
    expect(SENDER_TREATMENT.parts).toEqual(["messages"]);
    expect(CONTENT_TREATMENT.parts).toEqual(["messages"]);
    expect(ERROR_TREATMENT.parts).toEqual(["messages"]);
    expect(EVENT_BODY_TREATMENT.parts).toEqual(["messages", "account"]);
  });
});

describe("a pseudonym", () => {
  test("is the same for a person in every form of the address, within one request", async () => {
    const address = pseudonymousAddress("leads");
    const phone = await treat<string>(address, text(BIA));
    expect(phone).toMatch(NAME);
    expect(await treat(address, text(`${BIA}@s.whatsapp.net`))).toBe(`${phone}@s.whatsapp.net`);
    expect(await treat(address, text(BIA), asked(["leads"], 2))).not.toBe(phone);
    expect(await treat(address, text("5511999990002"))).not.toBe(phone);
  });

  test("replaces addresses only, in a column that also has other values", async () => {
    const maybe = pseudonymousAddressIfAny("leads");
    expect(await treat(maybe, text("campaign:7"))).toBe("campaign:7");
    const [name, domain] = (await treat<string>(maybe, text(`${BIA}@s.whatsapp.net`))).split("@");
    expect(name).toMatch(NAME);
    expect(domain).toBe("s.whatsapp.net");
  });
});

describe("the sender of a message", () => {
  const sender = json({ jid: `${BIA}@s.whatsapp.net`, lid: "77@lid", phone: BIA, push_name: "Bia" });

  test("is erased if only the messages are anonymised", async () => {
    expect(await treat(SENDER_TREATMENT, sender, asked(["messages"]))).toBeNull();
  });

  test("is a pseudonym if the conversations are anonymised too", async () => {
    const both = asked(["messages", "conversations"]);
    const treated = await treat<Record<string, string>>(SENDER_TREATMENT, sender, both);
    expect(treated).toEqual({
      jid: `${treated.phone}@s.whatsapp.net`,
      lid: expect.stringMatching(/^anon-[0-9a-f]{20}@lid$/),
      phone: expect.stringMatching(NAME),
      push_name: null,
    });
    expect(await treat(SENDER_TREATMENT, sql`null::jsonb`, both)).toBeNull();
  });
});

describe("the content of a message", () => {
  const at = expect.stringMatching(/^\d{4}-/);

  test.each([
    ["a text", { kind: "text", text: "Hi Bia" }, { kind: "text", text: null, length: "1-20" }],
    [
      "a file",
      {
        kind: "media",
        media_type: "image",
        size: 9,
        mime_type: "image/png; name=bia",
        caption: "",
        file_name: "bia",
      },
      { kind: "media", media_type: "image", size: 9, mime_type: "image/png", length: "0" },
    ],
    [
      "a place",
      { kind: "location", latitude: 1, longitude: 2, name: "Home" },
      { kind: "location", latitude: 0, longitude: 0, length: "0" },
    ],
    [
      "a contact",
      { kind: "contact", name: "Bia", phone: BIA },
      { kind: "contact", name: "", phone: "", length: "0" },
    ],
    ["another kind", { kind: "poll", options: ["Bia"] }, { kind: "poll", length: "0" }],
  ])("keeps its kind and nothing personal: %s", async (_, content, treated) => {
    expect(await treat(CONTENT_TREATMENT, json(content))).toEqual({ ...treated, anonymized_at: at });
  });

  test.each([
    [0, "0"],
    [1, "1-20"],
    [20, "1-20"],
    [21, "21-100"],
    [100, "21-100"],
    [101, "101-500"],
    [501, "501-2000"],
    [2000, "501-2000"],
    [2001, "2001-"],
  ])("of %d characters keeps its length as %s", async (length, shown) => {
    for (const field of ["text", "caption"]) {
      const content = json({ kind: "text", [field]: "é".repeat(length) });
      expect(await treat(CONTENT_TREATMENT, content)).toMatchObject({ length: shown });
    }
  });

  test("does not change once it is anonymised", async () => {
    const done = { kind: "text", text: null, length: "21-100", anonymized_at: "2026-11-20T00:00:00Z" };
    expect(await treat(CONTENT_TREATMENT, json(done))).toEqual(done);
  });
});

test("the error of a message keeps its code instead of its text", async () => {
  const about = { code: "SEND_FAILED", reason: "undelivered", params: { attempts: 5 } };
  const error = { ...about, message: `no session for ${BIA}`, retryable: true };
  expect(await treat(ERROR_TREATMENT, json(error))).toEqual({ ...error, message: "SEND_FAILED" });
  expect(await treat(ERROR_TREATMENT, sql`null::jsonb`)).toBeNull();
});

describe("the body of an event", () => {
  const body = {
    event_id: "evt_1",
    event: "message.received",
    tenant_id: 1,
    instance_id: 9,
    timestamp: "2026-11-20T00:00:00Z",
    source: "gateway",
    version: "1",
    sequence: 3,
    account_id: 1,
    instance: { id: 9, name: "Bia's phone", phone: BIA, metadata: { city: "Recife" } },
    data: { message: { text: "Hi" } },
  };
  const bytes = sql`convert_to(${JSON.stringify(body)}, 'UTF8')`;
  const treatBody = async (parts: AnonymisationPart[]) => {
    const treated = await treat<Buffer>(EVENT_BODY_TREATMENT, bytes, asked(parts));
    return JSON.parse(treated.toString("utf8"));
  };

  test("keeps only its own ids and its number if the messages are anonymised", async () => {
    for (const parts of [["messages"], ["messages", "account"]] as AnonymisationPart[][])
      expect(await treatBody(parts)).toEqual({
        ...body,
        instance: { id: 9, name: "", phone: null, metadata: {} },
        data: { anonymized: true },
      });
  });

  test("loses only the names of the instance if the account is anonymised", async () => {
    expect(await treatBody(["account"])).toEqual({
      ...body,
      instance: { id: 9, name: "anon-9", phone: BIA, metadata: {} },
    });
  });
});

describe("the personal data of a table", () => {
  const data = {
    plain: "id created_at",
    secret: "token",
    retained: { columns: "email", because: "it is what they sign in with" },
    personal: { name: eraseValue("account"), note: reworded("leads", "messages") },
    deleted: { columns: "grp ref", parts: ["messages" as const] },
  };
  const columnsChangedBy = async (...parts: AnonymisationPart[]) => {
    const changes = assignments(data, asked(parts));
    if (!changes) return undefined;
    return sql`update t set ${changes}`.compile(store.database.db).sql;
  };

  test("is changed only where one of the requested parts asks for it", async () => {
    expect(await columnsChangedBy("account")).toBe(`update t set "name" = null`);
    expect(await columnsChangedBy("messages")).toBe(`update t set "note" = 'anonymized'`);
    expect(await columnsChangedBy("leads", "account")).toBe(
      `update t set "name" = null, "note" = 'anonymized'`,
    );
    expect(await columnsChangedBy("conversations")).toBeUndefined();
    expect(assignments({}, asked(["account"]))).toBeUndefined();
  });

  test("names every column of the table", () => {
    expect(columnsOf(data).toSorted()).toEqual(
      ["id", "created_at", "token", "email", "name", "note", "grp", "ref"].toSorted(),
    );
    expect(columnsOf({ plain: "id" })).toEqual(["id"]);
  });
});

test("personal data is declared for every existing column, and for no other", async () => {
  const { rows } = await store.database.pool.query<{ name: string; column: string }>(`
    select c.relname as name, a.attname as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and c.relname not like 'kysely%'`);
  const there = rows.map(({ name, column }) => `${name}.${column}`);
  const declared = declaredTables().flatMap(([table, declaration]) =>
    columnsOf(declaration).map((column) => `${table}.${column}`),
  );
  expect(declared.toSorted()).toEqual(there.toSorted());
});

const BIA = "5511999990001";
const NAME = /^anon-[0-9a-f]{20}$/;
