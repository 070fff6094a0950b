import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../test/cpu-time.ts";
import type { FetchOutcome } from "../../platform/outgoing/safe-fetch.ts";
import { chatwootConfig } from "./chatwoot/chatwoot-config.ts";
import { toMarkdown, toWhatsAppMarkup } from "./chatwoot/to-markdown.ts";
import { integrationsContract } from "./contract.ts";
import { describeOutcome } from "./delivery/describe-outcome.ts";
import { isOnIgnoreList } from "./is-on-ignore-list.ts";
import { n8nConfig } from "./n8n/n8n-config.ts";
import { createProviders } from "./node-integrations.ts";
import { readIntegrationDraft } from "./save-integration.ts";
import { typebotConfig } from "./typebot/typebot-config.ts";

test.each([
  ["n8n", n8nConfig],
  ["typebot", typebotConfig],
  ["chatwoot", chatwootConfig],
])("the route's description names every field of %s", (_, config) => {
  for (const field of Object.keys(config.shape))
    expect(integrationsContract.saveIntegration.description).toContain(`\`${field}\``);
});

const ANA = { jid: "553187654321@s.whatsapp.net", lid: "100011999990058@lid", phone: "553187654321" };

test.each(["5531987654321", "+5531987654321", "5531987654321@s.whatsapp.net", "553187654321", ANA.lid])(
  "a number ignored as %s is also ignored under the other format of the number",
  (listed) => {
    expect(isOnIgnoreList(["351912345678", listed], ANA)).toBe(true);
    expect(
      isOnIgnoreList([listed], { jid: "351912345678@s.whatsapp.net", lid: null, phone: "351912345678" }),
    ).toBe(false);
  },
);

test.each([
  ["typebot", typebotConfig, { base_url: "https://a.test", public_id: "bot" }],
  ["chatwoot", chatwootConfig, { url: "https://a.test", access_token: "x", account_id: 1, inbox_id: 2 }],
] as const)("%s ignores a number in any notation, and refuses what is no person", (_, schema, config) => {
  const save = (entry: string) => schema.safeParse({ ...config, ignore_jids: [entry] });
  const { data } = save("+55 (31) 98765-4321");
  expect(data?.ignore_jids).toEqual(["5531987654321"]);
  expect(isOnIgnoreList(data?.ignore_jids ?? [], ANA)).toBe(true);
  expect(save("5531987654321:3@c.us").data?.ignore_jids).toEqual(["5531987654321@s.whatsapp.net"]);
  expect(save("120363025246125486@g.us").success).toBe(true);
  for (const entry of ["junk", "5531987654321.0", "31 98765-4321", "a@b.test"])
    expect(JSON.stringify(save(entry).error?.issues)).toContain("must be JIDs, or numbers with +");
});

const providers = Object.values(createProviders({} as never));
const outgoing = { findBlockReason: async () => undefined } as never;
const SECRET = "very-secret-value-1234";

describe.each(providers.map((provider) => [provider.name, provider] as const))("%s", (_, provider) => {
  const shown = { n8n: {}, typebot: { public_id: "bot" }, chatwoot: { account_id: 1, inbox_id: 2 } }[
    provider.name
  ];
  const read = (secret: string, origin: string) => {
    const secrets = Object.fromEntries(provider.secrets.map((name) => [name, SECRET]));
    const before = { config: { ...shown, [provider.address]: "https://a.test/in", ...secrets }, secrets };
    const given = Object.fromEntries(provider.secrets.map((name) => [name, secret]));
    const config = { ...shown, [provider.address]: `${origin}/in`, ...given };
    const input = { id: 1, provider: provider.name, config };
    return readIntegrationDraft({ outgoing }, provider, input, { account_id: 1, before: before as never });
  };

  test.each(["https://b.test", "http://a.test", "https://a.test:8443"])(
    "requires each masked secret again when its address changes to %s, and stores nothing",
    async (origin) => {
      expect(provider.secrets.length).toBeGreaterThan(0);
      await expect(read("****1234", origin)).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        details: { fields: [{ field: provider.secrets[0] }] },
      });
    },
  );

  test("keeps a masked secret at its address and accepts a new secret for another address", async () => {
    const name = provider.secrets[0] ?? "";
    expect((await read("****1234", "https://a.test")).config[name]).toBe(SECRET);
    expect((await read("another-secret", "https://b.test")).config[name]).toBe("another-secret");
  });
});

function answered(status: number, body = ""): FetchOutcome {
  return {
    outcome: "response",
    status,
    headers: {},
    body: Buffer.from(body),
    truncated: false,
    durationMs: 1,
  };
}

test("stores the readable text of an error response, without stack traces", () => {
  const body = JSON.stringify({ code: 404, message: "Not registered", stacktrace: "at secret.js" });
  expect(describeOutcome(answered(404, body))).toBe("The integration responded with 404: Not registered");
  expect(describeOutcome(answered(502, `<html>\n  ${"x".repeat(1000)}`)).length).toBeLessThan(350);
  expect(describeOutcome(answered(500))).toBe("The integration responded with 500.");
  expect(describeOutcome(answered(500, "null"))).toBe("The integration responded with 500: null");
});

describe("WhatsApp formatting converted to Markdown", () => {
  test.each([
    ["*bold* and _slanted_ and ~gone~", "**bold** and _slanted_ and ~~gone~~"],
    ["2*3*4 = 24", "2*3*4 = 24"],
    ["* no list *", "* no list *"],
    ["`*code*` and ```\n*more*\n```", "`*code*` and ```\n*more*\n```"],
    ["https://a.example/x*y*z?_q_=~1~ *b*", "https://a.example/x*y*z?_q_=~1~ **b**"],
    ["first\nsecond", "first\nsecond"],
  ])("%j becomes %j", (input, wanted) => {
    expect(toMarkdown(input)).toBe(wanted);
  });
});

describe("an agent's Markdown converted to WhatsApp formatting", () => {
  test.each([
    ["**bold** and *slanted* and _slanted_ and ~~gone~~", "*bold* and _slanted_ and _slanted_ and ~gone~"],
    ["[our page](https://a.example/x_y__z)", "our page (https://a.example/x_y__z)"],
    ["[https://a.example](https://a.example)", "https://a.example"],
    ["https://a.example/__x__/**y**", "https://a.example/__x__/**y**"],
    ["one\\\ntwo", "one\ntwo"],
    ["- one\n- two", "- one\n- two"],
    ["a\\_b and 1\\. c", "a_b and 1. c"],
    ["`**code**`", "`**code**`"],
    ["**Total:** 5*3", "*Total:* 5*3"],
    ["**one** and **two**\n**three\nfour**", "*one* and *two*\n**three\nfour**"],
    ["** no ** mark ** here", "** no ** mark ** here"],
    ["**a ** b** c", "*a ** b* c"],
    ["[[inner](https://a.example/x)]", "[inner (https://a.example/x)]"],
    ["[a](https://a.example/[b](https://b.example)", "a (https://a.example/[b](https://b.example)"],
    ["[a](https://a.example [b](https://b.example)", "[a](https://a.example b (https://b.example)"],
  ])("%j becomes %j", (input, wanted) => {
    expect(toWhatsAppMarkup(input)).toBe(wanted);
  });
});

describe("the conversion takes only a few milliseconds for hostile text:", () => {
  const units = [
    "[",
    "**a ",
    "~~a ",
    "*a ",
    "~a ",
    "`",
    "``` ",
    "[t](http://",
    "](http://a",
    "\\",
    "** ",
    "_",
    "\n",
  ];

  test.each(units)("1 MB of %j", async (unit) => {
    const text = (size: number) => `x${unit.repeat(size / unit.length)}`;
    expect(await growsLinearly(1_000_000, (size) => toWhatsAppMarkup(text(size)))).toBe(true);
    expect(await growsLinearly(1_000_000, (size) => toMarkdown(text(size)))).toBe(true);
  });
});
