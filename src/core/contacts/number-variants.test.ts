import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { canonicalNumberOf, numberVariantsOf } from "../../platform/phone/number-variants.ts";

let store: TestDatabase;

beforeAll(async () => {
  store = await createTestDatabase();
});
afterAll(() => store.drop());

/** Countries with two formats and two countries without, all relevant first digits, and lengths near the limits. */
function generateNumbers(): string[] {
  const digits = [..."0123456789"];
  const starts = ["55", "55119", "52", "521", "54", "549", "1", "351"].flatMap((start) =>
    digits.flatMap((first) => digits.map((second) => start + first + second)),
  );
  return starts.flatMap((start) =>
    [8, 9, 10, 11, 12, 13, 14].map((length) => start.padEnd(length, "9876543210")),
  );
}

test("the database identifies a contact by its number exactly as the gateway does", async () => {
  const phones = generateNumbers();
  const { rows } = await store.database.pool.query(
    "select canonical_number(p) as person, number_variants(p) as spellings from unnest($1::text[]) with ordinality x (p, n) order by n",
    [phones],
  );
  expect(rows).toEqual(
    phones.map((phone) => ({ person: canonicalNumberOf(phone), spellings: numberVariantsOf(phone) })),
  );
  expect(phones.filter((phone) => numberVariantsOf(phone).length > 1).length).toBeGreaterThan(500);
});
