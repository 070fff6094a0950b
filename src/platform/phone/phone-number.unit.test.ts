import fc from "fast-check";
import { parsePhoneNumberFromString } from "libphonenumber-js/max";
import examples from "libphonenumber-js/mobile/examples";
import { expect, test } from "vitest";
import { canonicalNumberOf } from "./number-variants.ts";
import {
  dependsOnCountry,
  type PhoneCountry,
  type PhoneReading,
  readPhoneNumber,
} from "./read-phone-number.ts";

const BRAZIL: PhoneCountry = { code: "BR", isSet: true };
const MAYBE_BRAZIL: PhoneCountry = { code: "BR", isSet: false };

/** The number of a request with one recipient. */
function send(text: string, country?: PhoneCountry): string {
  const reading = readPhoneNumber(text, country);
  if (reading.is === "number") return reading.digits;
  if (reading.is === "assumed" && reading.digits !== null) return `${reading.digits} by ${reading.code}`;
  return reading.code;
}

const ANA = "5511987650003";

test.each([
  // Notations of one number.
  ["5511987650003", ANA],
  ["+5511987650003", ANA],
  ["+55 (11) 98765-0003", ANA],
  ["(+55) 11 98765.0003", ANA],
  ["55.11.98765.0003", ANA],
  ["55-11-98765-0003", ANA],
  ["+55 11/98765-0003", ANA],
  ["+55 [11] 98765-0003", ANA],
  ["  5511987650003\t", ANA],
  ["5511987650003,", ANA],
  ["5511987650003;", ANA],
  ["5511987650003.", ANA],
  ["00 55 11 98765 0003", ANA],
  ["0055(11)98765-0003", ANA],
  ["+0055 11 98765 0003", ANA],
  ["+55 (0)11 98765-0003", ANA],
  ["+55 011 98765-0003", ANA],
  ["+55 0 15 11 98765-0003", ANA],
  // Invisible characters.
  ["\u202a+55 11 98765-0003\u202c", ANA],
  ["\u20685511987650003\u2069", ANA],
  ["\u200e\ufeff5511\u200b9876\u2060500\u00ad03", ANA],
  ["+55\u00a011\u202f98765\u20090003", ANA],
  ["+55\u300011\u280098765\u31640003", ANA],
  ["5\ufe0f\u20e3511987650\ufe0e003", ANA],
  // Dashes and digits of every script.
  ["+55 11 98765\u20110003", ANA],
  ["+55 11 98765\u20130003", ANA],
  ["+55\u201411\u221298765\u30fc0003", ANA],
  [
    "\uff0b\uff15\uff15\uff08\uff11\uff11\uff09\uff19\uff18\uff17\uff16\uff15\uff0d\uff10\uff10\uff10\uff13",
    ANA,
  ],
  ["+٥٥ ١١ ٩٨٧٦٥ ٠٠٠٣", ANA],
  ["+۵۵۱۱۹۸۷۶۵۰۰۰۳", ANA],
  ["५५११९८७६५०००३", ANA],
  ["\u{1d7dd}\u{1d7dd}11987650003", ANA],
  // Marks of programs.
  ["'5511987650003", ANA],
  ["\u20195511987650003", ANA],
  ['"5511987650003"', ANA],
  ['="5511987650003"', ANA],
  ["''5511987650003", ANA],
  ["''+55 11 98765-0003''", ANA],
  ["5511987650003'", ANA],
  ["+55 11 98765-0003\u2019", ANA],
  ["=5511987650003", ANA],
  ["tel:+55-11-98765-0003", ANA],
  ["TEL: 5511987650003", ANA],
  ["tel:11-98765-0003;phone-context=+55", ANA],
  ["tel:(011)98765-0003;phone-context=+5-5;ext=12", ANA],
  ["tel:11-98765-0003;ext=12;phone-context=+55", ANA],
  ["tel:+55-11-98765-0003;phone-context=+44", ANA],
  ["tel:020-7946-0018;phone-context=+44", "442079460018"],
  ["tel:2025550123;phone-context=+1", "12025550123"],
  ["whatsapp:+5511987650003", ANA],
  ["https://wa.me/5511987650003?text=Hi", ANA],
  ["wa.me/+5511987650003", ANA],
  ["https://wa.me/%2B5511987650003", ANA],
  ["https://wa.me/%2b51987654321?text=Oi", "51987654321"],
  ["https://api.whatsapp.com/send?phone=5511987650003&text=a", ANA],
  ["http://api.whatsapp.com/send?text=Oi%201&phone=%2B5511987650003", ANA],
  ["https://web.whatsapp.com/send/?text&phone=5511987650003&type=phone_number&app_absent=0", ANA],
  ["https://api.whatsapp.com/send?phone=5511987650003&phone=5511987650004", "unknown_sign"],
  ["whatsapp://send?phone=5511987650003", ANA],
  // Extensions and trunk zeros.
  ["+44 20 7946 0018 ext. 5", "442079460018"],
  ["tel:+44-20-7946-0018;ext=12", "442079460018"],
  ["+44 20 7946 0018 x12", "442079460018"],
  ["+44 20 7946 0018 #7", "442079460018"],
  ["+55 11 3333-0003 ramal 21", "551133330003"],
  ["+44 (0)20 7946 0018", "442079460018"],
  ["+4402079460018", "442079460018"],
  ["+49 (0) 151 12345678", "4915112345678"],
  ["+39 06 1234 5678", "390612345678"],
  ["+39 (0)6 1234 5678", "390612345678"],
  ["+48 (0)512 345 678", "48512345678"],
  ["+57 (0)321 123 4567", "573211234567"],
  ["+852 (0)9123 4567", "85291234567"],
  ["+49 30 12345-0", "4930123450"],
  ["+33.6.12.34.56.78", "33612345678"],
  // Formats that the network itself uses, and unassigned numbers.
  ["553187654321", "553187654321"],
  ["5215512345678", "5215512345678"],
  ["5491123456789", "5491123456789"],
  ["+54 11 15 2312 3456", "5491123123456"],
  ["15550000001", "15550000001"],
  ["12025550123", "12025550123"],
  ["4790000001", "4790000001"],
  ["5511999990000", "5511999990000"],
  ["1234567890123", "impossible_number"],
  // Damaged by a spreadsheet.
  ["5511987650003.0", "changed_by_spreadsheet"],
  ["5511987650003.00", "changed_by_spreadsheet"],
  ["5511987650003,0", "changed_by_spreadsheet"],
  ["5511987650003,00", "changed_by_spreadsheet"],
  ["5.511.987.650.003,00", "changed_by_spreadsheet"],
  ["5,511,987,650,003", "changed_by_spreadsheet"],
  ["551133330003.5", "changed_by_spreadsheet"],
  ["5511987650003 .0", "changed_by_spreadsheet"],
  ["62.812.3456.789.00", "changed_by_spreadsheet"],
  ["+62.812.3456.7895.0", "changed_by_spreadsheet"],
  ["+49.30.12345678.0", "changed_by_spreadsheet"],
  ["+5511987650003\uff0e0", "changed_by_spreadsheet"],
  ["5511987650003\u066b0", "changed_by_spreadsheet"],
  ["'5511987650003.0", "changed_by_spreadsheet"],
  ["5,51199E+12", "changed_by_spreadsheet"],
  ["5.51199e12", "changed_by_spreadsheet"],
  ["5E+12", "changed_by_spreadsheet"],
  ["5.51199E 12", "changed_by_spreadsheet"],
  ["5.51199 E+12", "changed_by_spreadsheet"],
  ["5,51199 e + 12", "changed_by_spreadsheet"],
  ["\uff15\uff0e\uff15\uff11\uff11\uff19\uff19\uff25\uff0b\uff11\uff12", "changed_by_spreadsheet"],
  // Negative: a spreadsheet has evaluated +91-9876543210, or has dropped the plus.
  ["-9876543119", "changed_by_spreadsheet"],
  ["\u22125511987650003", "changed_by_spreadsheet"],
  ["- 5511987650003", "changed_by_spreadsheet"],
  ["+-5511987650003", "changed_by_spreadsheet"],
  ["5511987650003-", "changed_by_spreadsheet"],
  ["5511987650003 \u2013 ", "changed_by_spreadsheet"],
  ["(5511987650003)", "changed_by_spreadsheet"],
  ["(-5511987650003)", "changed_by_spreadsheet"],
  ["(5.511.987.650.003)", "changed_by_spreadsheet"],
  ["(+5511987650003)", ANA],
  ["(55 11 98765-0003)", ANA],
  // Joined with a separator, and in no country's numbering plan.
  ["+49 151 12345678-1", "several_numbers"],
  ["+62 812 3456 7890-1", "several_numbers"],
  ["2. 11987650003", "several_numbers"],
  ["1. 5511987650003", "several_numbers"],
  ["1) 5511987650003", "several_numbers"],
  ["+49 151 123456781", "impossible_number"],
  ["+49151123456781", "49151123456781"],
  ["(00) 98765-0003", "not_a_number"],
  ["(000) 555-0123", "not_a_number"],
  ["(00) 55 11 98765-0003", ANA],
  ["(99) 99999-9999", "not_a_number"],
  // Two numbers in one cell.
  ["5511987650003 / 5511987650004", "several_numbers"],
  ["5511987650003;5511987650004", "several_numbers"],
  ["5511987650003, 5511987650004", "several_numbers"],
  ["+5511987650003+5511987650004", "several_numbers"],
  ["5511987650003 ou 5511987650004", "several_numbers"],
  ["5511987650003 e 5511987650004", "several_numbers"],
  ["98765-0003 98765-0004", "several_numbers"],
  ["+55 11 3333-4444/45", "several_numbers"],
  ["+62 812-3456-7895 (2)", "several_numbers"],
  ["+62 812-3456-7895 - 2", "several_numbers"],
  ["+62 812-3456-7895 \u2013 21", "several_numbers"],
  ["+62 812-3456-7895 5", "several_numbers"],
  ["+61 412 345 678 (0)", "several_numbers"],
  ["+57 0 3211234567 - 2", "several_numbers"],
  ["+62 21 345678 - 345679", "too_long"],
  ["+49 0049 151 12345673", "too_long"],
  ["5511987650003\n5511987650004", "several_numbers"],
  ["+49 30 123456 654321", "several_numbers"],
  ["+62 812-3456-789 21", "several_numbers"],
  ["+62 812 3456 789 21", "several_numbers"],
  ["+62 812 3456 789- 21", "several_numbers"],
  ["+62 8123456789\n12", "several_numbers"],
  ["+49 30 1234567\n12", "several_numbers"],
  ["+49 30 1234\t5678", "several_numbers"],
  ["+49 30 1234567 12", "several_numbers"],
  ["+49 30 1234567 12 13", "several_numbers"],
  ["+43 1 58858\n21", "several_numbers"],
  ["+43 1 58858\u202821 22", "several_numbers"],
  ["4312345 12", "several_numbers"],
  ["+39 06 1234567 123", "several_numbers"],
  // One number in groups, although a shorter one would be valid too.
  ["+62 812 3456 789", "628123456789"],
  ["+49 30 1234 5678", "493012345678"],
  ["+49 30 123 45 67", "49301234567"],
  ["+43 664 123 45 67", "436641234567"],
  ["+43 664 1234 567", "436641234567"],
  ["+46 8 123 456 78", "46812345678"],
  ["+55 11\n98765-0003", ANA],
  // No numbers.
  ["", "missing"],
  [" \u200b", "missing"],
  ["n/a", "not_a_number"],
  ["#####", "not_a_number"],
  ["1-800-FLOWERS", "unknown_sign"],
  ["5511987650003*", "unknown_sign"],
  ["\u260e 5511987650003", "unknown_sign"],
  ["+55 11 98765-0003 Ana", "unknown_sign"],
  ["5511987650003 ext", "unknown_sign"],
  ["55_11_987650003", "unknown_sign"],
  ["²³5511987650003", "unknown_sign"],
  ["5+511987650003", "unknown_sign"],
  ["123456", "too_short"],
  ["+1 234", "too_short"],
  ["12345678901234567", "too_long"],
  ["9".repeat(201), "too_long"],
  // Local numbers whose context is no country, or the wrong one.
  ["tel:863-1234;phone-context=+1-914-555", "unknown_context"],
  ["tel:7042;phone-context=example.com", "unknown_context"],
  ["tel:7946-0018;phone-context=+44", "unknown_context"],
  ["tel:5511987650003;phone-context=+44", "unknown_context"],
  ["tel:100011999990058;phone-context=+44", "unknown_context"],
  ["tel:11-98765-0003;phone-context=55", "unknown_context"],
  ["tel:11-98765-0003 (2);phone-context=+55", "several_numbers"],
  ["tel:11-98765-0003;phone-context=+55;phone-context=+44", "unknown_sign"],
  // Countries that are missing or do not exist.
  ["11961022224", "no_country_code"],
  ["(11) 98765-0003", "no_country_code"],
  ["011 98765-0003", "no_country_code"],
  ["0151 12345678", "no_country_code"],
  ["31987654321", "no_country_code"],
  ["+11 96102-2224", "impossible_number"],
  ["+999 1234 5678", "impossible_number"],
  ["55119876500030", "impossible_number"],
  ["+55119876500030", "impossible_number"],
  ["5511963043333000", "too_long"],
])("the text %j means %s", (text, meaning) => {
  expect(send(text)).toBe(meaning);
});

test.each([
  ["BR", "11961022224", "5511961022224 by assumed_country", "no_country_code"],
  ["BR", "(31) 98765-4321", "5531987654321 by assumed_country", "no_country_code"],
  ["BR", "011 98765-0003", "5511987650003 by assumed_country", "no_country_code"],
  ["BR", "0 15 11 98765-0003", "5511987650003 by assumed_country", "no_country_code"],
  ["BR", "11 3333-0003", "551133330003 by assumed_country", "no_country_code"],
  ["BR", "+11 96102-2224", "no_country_code", "no_country_code"],
  ["BR", "51987654321", "ambiguous_country", "51987654321 by ambiguous_country"],
  ["BR", "51 98765 4321", "ambiguous_country", "51987654321 by ambiguous_country"],
  ["BR", "wa.me/51987654321?text=Oi", "51987654321", "51987654321"],
  ["BR", "api.whatsapp.com/send?phone=51987654321", "51987654321", "51987654321"],
  ["BR", "(51) 98765-4321", "ambiguous_country", "ambiguous_country"],
  ["BR", "(51)987654321", "ambiguous_country", "ambiguous_country"],
  ["BR", "51 98765-4321", "ambiguous_country", "ambiguous_country"],
  ["BR", "51 98765\u20114321", "ambiguous_country", "ambiguous_country"],
  ["BR", "+51 987-654-321", "51987654321", "51987654321"],
  ["PE", "(51) 98765-4321", "51987654321", "51987654321"],
  ["BR", "84987654321", "ambiguous_country", "84987654321 by ambiguous_country"],
  ["BR", "+51987654321", "51987654321", "51987654321"],
  ["BR", "5511987650003", ANA, ANA],
  ["BR", "553187654321", "553187654321", "553187654321"],
  ["BR", "351912345678", "351912345678", "351912345678"],
  ["BR", "98765-0003", "no_country_code", "no_country_code"],
  ["BR", "(11) 98765-0003 (21)", "several_numbers", "several_numbers"],
  ["BR", "11 3333-0003 - 21", "several_numbers", "several_numbers"],
  ["BR", "0055 11 98765 0003", ANA, ANA],
  ["DE", "0151 12345678", "4915112345678 by assumed_country", "no_country_code"],
  ["DE", "5511987650003", ANA, ANA],
  ["DE", "971501234567", "971501234567", "971501234567"],
  ["US", "(202) 555-0123", "12025550123 by assumed_country", "no_country_code"],
  ["US", "011 44 20 7946 0018", "442079460018", "no_country_code"],
  ["US", "5511987650003", ANA, ANA],
  ["CN", "15012345678", "ambiguous_country", "15012345678 by ambiguous_country"],
  ["ID", "0812-3456-7890", "6281234567890 by assumed_country", "no_country_code"],
  ["ID", "8210 1234 5678", "ambiguous_country", "821012345678 by ambiguous_country"],
  ["ID", "819012345678", "ambiguous_country", "819012345678 by ambiguous_country"],
  ["ID", "+821012345678", "821012345678", "821012345678"],
  ["ID", "6281234567890", "6281234567890", "6281234567890"],
  ["BR", "821012345678", "821012345678", "821012345678"],
  ["BR", "tel:020-7946-0018;phone-context=+44", "442079460018", "442079460018"],
  ["BR", "tel:11-98765-0003;phone-context=example.com", "unknown_context", "unknown_context"],
  ["RU", "8 (912) 345-67-89", "79123456789 by assumed_country", "no_country_code"],
  ["XX", "11961022224", "no_country_code", "no_country_code"],
  ["BR", "(11987649948)", "changed_by_spreadsheet", "changed_by_spreadsheet"],
  ["BR", "(11 98765-0003)", "5511987650003 by assumed_country", "no_country_code"],
  ["BR", "2. 11987650003", "several_numbers", "several_numbers"],
  ["BR", "3) 11 98765-0003", "several_numbers", "several_numbers"],
  ["BR", "2 - 11987650003", "several_numbers", "several_numbers"],
  ["BR", "12/ 11987650003", "several_numbers", "several_numbers"],
  ["BR", "11 - 98765-0003", "5511987650003 by assumed_country", "no_country_code"],
  ["BR", "55 - 11 98765-0003", ANA, ANA],
  ["BR", "(00) 98765-0003", "not_a_number", "not_a_number"],
  ["KR", "2. 010-1234-5678", "several_numbers", "several_numbers"],
  ["BR", "2. 010-1234-5678", "several_numbers", "several_numbers"],
  ["BR", "20. 10-1234-5678", "several_numbers", "several_numbers"],
  ["KR", "2 010 1234 5678", "several_numbers", "several_numbers"],
  ["US", "1. 212-555-0123", "12125550123", "12125550123"],
  ["DE", "30 - 34567890", "493034567890 by assumed_country", "no_country_code"],
  ["DE", "55119876500031", "impossible_number", "impossible_number"],
  ["DE", "555511987650003", "impossible_number", "impossible_number"],
  ["DE", "05511987650003", "no_country_code", "no_country_code"],
  ["DE", "+52 044 55 1234 5678", "several_numbers", "several_numbers"],
  ["DE", "333 0001 333 0002", "several_numbers", "several_numbers"],
  // Digits of documents and dates that are also numbers of another country.
  ["BR", "12345678909", "ambiguous_number", "12345678909 by ambiguous_number"],
  ["BR", "123 456 789 09", "ambiguous_number", "12345678909 by ambiguous_number"],
  ["BR", "123.456.789-09", "ambiguous_number", "ambiguous_number"],
  ["US", "123.456.789-09", "ambiguous_number", "ambiguous_number"],
  ["BR", "119.610.222-24", "ambiguous_number", "ambiguous_number"],
  ["BR", "01234567890", "ambiguous_number", "ambiguous_number"],
  ["BR", "+12345678909", "12345678909", "12345678909"],
  ["BR", "1-234-567-8909", "12345678909", "12345678909"],
  ["BR", "12345678901", "12345678901", "12345678901"],
  ["US", "12345678909", "12345678909", "12345678909"],
  ["AR", "27123456780", "ambiguous_number", "27123456780 by ambiguous_number"],
  ["BR", "20240115001", "ambiguous_number", "20240115001 by ambiguous_number"],
  ["BR", "20240115 001", "ambiguous_number", "20240115001 by ambiguous_number"],
  ["US", "2024-01-15-001", "ambiguous_number", "ambiguous_number"],
  ["BR", "15012024001", "ambiguous_number", "15012024001 by ambiguous_number"],
  ["EG", "20240115001", "20240115001", "20240115001"],
  ["BR", "+20240115001", "20240115001", "20240115001"],
  ["BR", "201012315678", "201012315678", "201012315678"],
  ["US", "15012024001", "15012024001", "15012024001"],
  ["DK", "31/12/2024", "ambiguous_number", "ambiguous_number"],
  ["DK", "31.12.2023", "ambiguous_number", "ambiguous_number"],
  ["DK", "2024-12-31", "ambiguous_number", "ambiguous_number"],
  ["SG", "8/1/2024", "too_short", "too_short"],
  ["DK", "31 12 20 24", "4531122024 by assumed_country", "no_country_code"],
  ["DK", "31.12.20.24", "4531122024 by assumed_country", "no_country_code"],
  ["DK", "tel:31-12-2024;phone-context=+45", "ambiguous_number", "ambiguous_number"],
])("in %s the text %j means %s, and %s while the country is a guess", (code, text, isSet, isGuess) => {
  expect([send(text, { code, isSet: true }), send(text, { code, isSet: false })]).toEqual([isSet, isGuess]);
});

/** The number of a mobile as dialled within its country. */
function mobileAtHome(written: string, country: "BR" | "CN" | "ID" | "IN" | "US"): string | undefined {
  const parsed = parsePhoneNumberFromString(written, country);
  return /MOBILE/.test(parsed?.getType() ?? "") ? parsed?.number.slice(1) : undefined;
}

test("a mobile at home whose digits are also a whole number abroad is always ambiguous", () => {
  const starts = ["33", "34", "51", "62", "81", "82", "84", "85", "86", "88", "98", "150"];
  const written = starts.flatMap((start) =>
    [7, 8, 9, 10, 11].flatMap((length) =>
      Array.from({ length: 40 }, (_, at) => start + `${at * 2_654_435_761 + 123_456_789}`.slice(-length)),
    ),
  );
  const abroad = written.filter((digits) => parsePhoneNumberFromString(`+${digits}`)?.isValid());
  const readings = (["BR", "CN", "ID", "IN", "US"] as const).flatMap((code) =>
    abroad.flatMap((digits) => {
      const home = mobileAtHome(digits, code);
      if (home === undefined || canonicalNumberOf(home) === canonicalNumberOf(digits)) return [];
      return [`${code} ${digits} ${send(digits, { code, isSet: true })}`];
    }),
  );
  expect(readings.length).toBeGreaterThan(100);
  expect(readings.filter((reading) => !reading.endsWith("ambiguous_country"))).toEqual([]);
});

test("a refused sign is named with its code point, and a missing country with what was probably meant", () => {
  expect(readPhoneNumber("+55 11 98765-0003 \u260e")).toMatchObject({
    params: { sign: "\u260e", code_point: "U+260E" },
    issue: 'contains "\u260e" (U+260E), which is not part of a phone number',
  });
  expect(readPhoneNumber("20240115001")).toMatchObject({
    params: { as_written: "+20240115001", meaning: "2024-01-15" },
    digits: "20240115001",
  });
  expect(readPhoneNumber("51987654321", MAYBE_BRAZIL)).toMatchObject({
    params: { country: "BR", suggestion: "+5551987654321", as_written: "+51987654321" },
  });
});

test("digits that are no phone number but as long as a LID are kept for the directory", () => {
  expect(readPhoneNumber("100011999990058")).toMatchObject({ is: "refused", lid: "100011999990058" });
  expect(readPhoneNumber("'100011999990058")).toMatchObject({ lid: "100011999990058" });
  for (const text of [
    "1000 11999990058",
    "11961022224",
    "+100011999990058",
    "00100011999990058",
    "0055119876500030",
    "https://wa.me/55119876500030",
    "https://api.whatsapp.com/send?phone=55119876500030",
    "tel:55119876500030",
    "whatsapp:55119876500030",
    "100011999990058 ext 5",
  ])
    expect([text, readPhoneNumber(text)]).toMatchObject([text, { is: "refused", lid: null }]);
});

test("each digit of each script means its value", () => {
  const all = Array.from({ length: 0x11_0000 }, (_, at) => at)
    .filter((at) => at < 0xd800 || at > 0xdfff)
    .map((at) => String.fromCodePoint(at))
    .filter((sign) => /^\p{Nd}$/u.test(sign));
  expect(all.length).toBeGreaterThan(600);
  for (const [at, sign] of all.entries()) {
    const number = `+55119876500${at % 10}3`;
    expect([sign, send(`+55119876500${sign}3`)]).toEqual([sign, number.slice(1)]);
  }
});

/** The digits that a reading may result in. */
function reached(reading: PhoneReading): string[] {
  if (reading.is === "refused") return reading.lid === null ? [] : [reading.lid];
  return reading.is === "number"
    ? [reading.digits]
    : [reading.digits ?? reading.suggestion, reading.suggestion];
}

/** Whether the digits are those of the text with some omitted. A mobile prefix may be added. */
function isSpelled(digits: string, spelled: string): boolean {
  return [digits, canonicalNumberOf(digits)].some((wanted) => {
    let at = 0;
    for (const digit of spelled) if (digit === wanted[at]) at += 1;
    return at === wanted.length;
  });
}

const COUNTRIES = Object.keys(examples) as (keyof typeof examples)[];
const SIGNS = [
  ..."0123456789",
  ..."+ ()-./,;#x'\"=\n\u200b\u2013\u00a0E",
  "00",
  "+55",
  "11 98765-0003",
  ";phone-context=+44",
  "(0)",
];

test("no accepted text goes to digits that it does not spell, but for the code of its country", () => {
  const number = fc.constantFrom(...COUNTRIES).map((country) => {
    const parsed = parsePhoneNumberFromString(examples[country], country);
    return [parsed?.number ?? "", parsed?.formatInternational() ?? "", parsed?.formatNational() ?? ""];
  });
  const written = fc.tuple(number, fc.nat(2)).map(([forms, at]) => forms[at] ?? "");
  const noise = fc.array(fc.constantFrom(...SIGNS), { maxLength: 12 }).map((signs) => signs.join(""));
  const damaged = fc
    .tuple(written, noise, fc.nat(20))
    .map(([text, more, at]) => text.slice(0, at) + more + text.slice(at));
  const country = fc.option(fc.record({ code: fc.constantFrom(...COUNTRIES), isSet: fc.boolean() }));
  fc.assert(
    fc.property(fc.oneof(written, damaged, noise), country, (text, known) => {
      const spelled = text.replace(/[^0-9]/g, "");
      for (const digits of reached(readPhoneNumber(text, known ?? undefined))) {
        const assumed = parsePhoneNumberFromString(`+${digits}`)?.countryCallingCode ?? "";
        expect(isSpelled(digits, spelled) || isSpelled(digits, assumed + spelled)).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("digits that stand apart behind a whole number never become a part of it", () => {
  const end = fc.oneof(
    fc.nat(999).map((digits) => ` (${digits})`),
    fc.nat(999_999).map((digits) => ` - ${digits}`),
    fc.tuple(fc.constantFrom(" ", "\n", "\t"), fc.nat(999_999)).map((parts) => parts.join("")),
    fc.constantFrom(".0", "\u00a0(2)", " \u2013 7"),
  );
  fc.assert(
    fc.property(fc.constantFrom(...COUNTRIES), end, fc.boolean(), (country, behind, isSet) => {
      const whole = parsePhoneNumberFromString(examples[country], country)?.formatInternational() ?? "";
      fc.pre(readPhoneNumber(whole).is === "number");
      expect(readPhoneNumber(whole + behind, { code: country, isSet }).is).toBe("refused");
    }),
    { numRuns: 2_000 },
  );
});

test("a number that is grouped as its country groups it is one number", () => {
  const parsed = COUNTRIES.map((country) => parsePhoneNumberFromString(examples[country], country));
  const readings = parsed.flatMap((number) => {
    const country = number?.country && { code: number.country, isSet: true };
    return [number?.formatInternational() ?? "", number?.formatNational() ?? ""].map(
      (text) => `${text}: ${send(text, country)}`,
    );
  });
  expect(readings).toHaveLength(2 * COUNTRIES.length);
  expect(readings.filter((reading) => reading.endsWith("several_numbers"))).toEqual([]);
});

test("a text that does not depend on the country means the same in every country", () => {
  const text = fc.array(fc.constantFrom(...SIGNS), { maxLength: 14 }).map((signs) => signs.join(""));
  const country = fc.record({ code: fc.constantFrom(...COUNTRIES), isSet: fc.boolean() });
  fc.assert(
    fc.property(text, country, (written, known) => {
      fc.pre(!dependsOnCountry(written));
      expect(readPhoneNumber(written, known)).toEqual(readPhoneNumber(written));
    }),
    { numRuns: 2_000 },
  );
  expect([dependsOnCountry("(11) 98765-0003"), dependsOnCountry("5511987650003")]).toEqual([true, false]);
});

/** Damages of a Brazilian list by programs and people. */
const DAMAGES: readonly ((number: string) => string)[] = [
  (number) => number.slice(2),
  (number) => `${number}.0`,
  (number) => `${number},00`,
  (number) => `${Number(number).toExponential(5).replace("e", "E")}`,
  (number) => `${number.slice(0, 4)}E+09`,
  (number) => `${number} / ${number.slice(0, -1)}9`,
  (number) => `${number}0`,
  (number) => `0${number.slice(2)}`,
  (number) => `(${number.slice(2, 4)}) ${number.slice(4)}`,
  (number) => number.slice(4),
  (number) => `\u202a+${number}\u202c`,
  (number) => `'${number}`,
  (number) => `="${number}"`,
  (number) => number.slice(0, -4),
];
const AREAS = [
  11, 21, 31, 33, 34, 41, 43, 46, 47, 48, 49, 51, 53, 54, 55, 61, 62, 63, 64, 66, 71, 81, 84, 86, 91, 98,
];

/** A list asks for confirmation of assumptions, and then uses the suggestion unless the number is ambiguous. */
function inList(line: string, country: PhoneCountry): string | null {
  const reading = readPhoneNumber(line, country);
  if (reading.is === "number") return reading.digits;
  return reading.is === "assumed" && !reading.code.startsWith("ambiguous") ? reading.suggestion : null;
}

test("of 301 damaged lines none goes to another person, whether the country is set or guessed", () => {
  const lines = Array.from({ length: 301 }, (_, at) => {
    const number = `55${AREAS[at % AREAS.length]}9${80_000_000 + at * 7_919}`;
    return { number, line: DAMAGES[at % DAMAGES.length]?.(number) ?? "" };
  });
  for (const country of [BRAZIL, MAYBE_BRAZIL]) {
    const goals = lines.map(({ line, number }) => ({ line, number, digits: inList(line, country) }));
    expect(goals.filter(({ digits, number }) => digits !== null && digits !== number)).toEqual([]);
    // Half of the damages leave the number readable.
    expect(goals.filter(({ digits, number }) => digits === number)).toHaveLength(115);
  }
});
