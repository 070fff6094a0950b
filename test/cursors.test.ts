import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";

import { contract } from "../src/contract.ts";
import type { Route } from "../src/platform/http/route.ts";
import { ADMIN_TOKEN, startTestGateway, type TestGateway, type TestInstance } from "./gateway.ts";
import { createHttpRequester, type HttpRequester } from "./http-requester.ts";
import { PASSWORD, signIn } from "./sign-in.ts";

const LISTS = Object.entries<Route>(contract).filter(
  ([, { input }]) => "cursor" in (input as z.ZodObject).shape,
);
const encoded = (text: string) => Buffer.from(text).toString("base64url");

const HOSTILE = [
  "AA",
  "%00",
  "' or 1=1 --",
  "x".repeat(200),
  "x".repeat(10_000),
  "ÿþ",
  "\u{1f600}",
  ...[
    "\0",
    "-1",
    "1e400",
    "NaN",
    "Infinity",
    "0x10",
    " 7",
    "7.",
    "1.2.3",
    "9007199254740991",
    "9007199254740993",
  ].map(encoded),
  ...["9007199254740991.9007199254740991", "-9007199254740991.1", "bkp_", `bkp_${"Z".repeat(26)}`].map(
    encoded,
  ),
];

let gateway: TestGateway;
let request: HttpRequester;
let token: string;
let sales: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_UNKNOWN_RATE: "0" });
  request = createHttpRequester(() => gateway.url);
  ({ token } = await signIn(gateway.url));
  sales = await gateway.connectInstance();
  await Promise.all(
    ["one", "two"].map((text) => sales.client.sendText({ id: sales.id, number: "5511999990004", text })),
  );
});
afterAll(() => gateway.stop());

function list(http: string, query: Record<string, string>) {
  const path = http.replace(/:(\w+)/g, (_, name: string) => (name === "id" ? String(sales.id) : "1"));
  const isOfKeys = http.includes("/instance/all");
  return request(
    `${path}?${new URLSearchParams(query)}`,
    undefined,
    isOfKeys ? { admintoken: ADMIN_TOKEN } : { authorization: `Bearer ${token}` },
  );
}

describe("a cursor that no page returned", () => {
  test("is tried on at least one list", () => expect(LISTS.length).toBeGreaterThan(15));

  test.each(LISTS.map(([name, { http }]) => [name, http]))(
    "is refused or shows nothing, and never fails: %s",
    async (_, http) => {
      const wrong: string[] = [];
      for (const cursor of HOSTILE) {
        const { status, body } = await list(http, { cursor });
        const isRefusal = status === 400 && body.code === "VALIDATION_ERROR";
        if (!isRefusal && status !== 200 && status !== 404)
          wrong.push(`${status} for ${cursor.slice(0, 60)}`);
      }
      expect(wrong).toEqual([]);
    },
  );
});

describe("a cursor of the message log", () => {
  const page = (query: object = {}) =>
    sales.client.listInstanceLogs({ id: sales.id, type: "messages", limit: 1, ...query });

  test("leads from page to page", async () => {
    const first = await page();
    const second = await page({ cursor: first.pagination.next_cursor });
    expect(second.data.messages).toHaveLength(1);
    expect(second.data.messages[0]?.id).not.toBe(first.data.messages[0]?.id);
  });

  test("reveals nothing about the messages of another account", async () => {
    const account = { name: "Other", email: "boss@other.example", password: PASSWORD };
    await gateway.owner.createAccount({ ...account, user_name: "Boss" });
    const { client: other } = await signIn(gateway.url, account);
    const { data } = await other.createInstance({ name: "Theirs", network: "sandbox" });
    const said = async (id: number) => {
      const cursor = Buffer.from(String(id)).toString("base64url");
      return other.listInstanceLogs({ id: data.id, type: "messages", cursor }).then(
        (page) => JSON.stringify(page.data),
        (error: { code: string; message: string }) => `${error.code} ${error.message}`,
      );
    };
    const mine = (await page()).data.messages[0]?.id ?? 0;
    expect(await said(mine)).toBe(await said(999_999_999));
  });
});
