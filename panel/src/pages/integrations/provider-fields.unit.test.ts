import { expect, test } from "vitest";
import { chatwootConfig } from "../../../../src/extensions/integrations/chatwoot/chatwoot-config.ts";
import { n8nConfig } from "../../../../src/extensions/integrations/n8n/n8n-config.ts";
import { savedTypebotConfig } from "../../../../src/extensions/integrations/typebot/typebot-config.ts";
import { integrations } from "../../i18n/messages/en/integrations.ts";
import { PROVIDER_FIELDS, readConfig, toConfig, toText } from "./provider-fields.ts";

const PROVIDERS = ["n8n", "typebot", "chatwoot"] as const;
const CONTRACTS = { n8n: n8nConfig, typebot: savedTypebotConfig, chatwoot: chatwootConfig } as const;

test.each(PROVIDERS)(
  "the form of %s has every field of the gateway's configuration, and no other",
  (provider) => {
    const names = PROVIDER_FIELDS[provider].map(({ name }) => name);
    expect([...names].sort()).toEqual(Object.keys(CONTRACTS[provider].shape).sort());
  },
);

test.each(PROVIDERS)("each field of %s, and each of its choices, is explained", (provider) => {
  const texts = integrations.integrations[provider] as unknown as {
    fields: Record<string, { label: string; hint: string }>;
    choices: Record<string, Record<string, string>>;
  };
  for (const { name, options = [] } of PROVIDER_FIELDS[provider]) {
    expect(texts.fields[name]?.label, name).toMatch(/\w/);
    expect(texts.fields[name]?.hint, name).toMatch(/\w/);
    expect(Object.keys(texts.choices[name] ?? {}).sort(), name).toEqual([...options].sort());
  }
});

const REQUIRED = {
  n8n: { webhook_url: "https://n8n.example.com/webhook/a" },
  typebot: { base_url: "https://bot.example.com", public_id: "shop" },
  chatwoot: { url: "https://chat.example.com", access_token: "token", account_id: "2", inbox_id: "7" },
} as const;

test.each(PROVIDERS)("the form of %s begins with the gateway's own values", (provider) => {
  const sent = readConfig(provider, toConfig(provider, undefined), REQUIRED[provider]);
  const { auth: _, ...config } = CONTRACTS[provider].parse(sent) as Record<string, unknown>;
  expect(config).toEqual(CONTRACTS[provider].parse(REQUIRED[provider]));
});

test("lists, variables and line breaks pass through their fields unchanged", () => {
  const field = (name: string) => {
    const found = [...PROVIDER_FIELDS.typebot, ...PROVIDER_FIELDS.chatwoot].find((one) => one.name === name);
    if (!found) throw new Error(`There is no field ${name}.`);
    return found;
  };
  const typebot = { stop_keywords: ["stop", "end it"], variables: { shop: "A = B", size: 3 } };
  const texts = Object.fromEntries(
    Object.entries(typebot).map(([name, value]) => [name, toText(field(name), value)]),
  );
  expect(readConfig("typebot", toConfig("typebot", undefined), texts)).toMatchObject({
    stop_keywords: ["stop", "end it"],
    variables: { shop: "A = B", size: "3" },
  });
  const delimiter = { signature_delimiter: toText(field("signature_delimiter"), ":\n\n") };
  expect(delimiter.signature_delimiter).toBe(":\\n\\n");
  expect(readConfig("chatwoot", toConfig("chatwoot", undefined), delimiter).signature_delimiter).toBe(
    ":\n\n",
  );
});

test("a field that is not shown keeps its saved value", () => {
  const saved = toConfig("chatwoot", { auto_create: true, inbox_id: 9 });
  expect(readConfig("chatwoot", saved, { url: "https://chat.example.com" }).inbox_id).toBe(9);
});
