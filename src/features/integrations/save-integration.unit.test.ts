import { describe, expect, test } from "vitest";
import { createProviders } from "./providers.ts";
import { readIntegrationDraft } from "./save-integration.ts";

const providers = Object.values(createProviders({} as never));
const outgoing = { findBlockReason: async () => undefined } as never;
const SECRET = "very-secret-value-1234";

describe.each(providers.map((provider) => [provider.name, provider] as const))("%s", (_, provider) => {
  const shown = {
    n8n: {},
    typebot: { public_id: "bot" },
    chatwoot: { account_id: 1, inbox_id: 2 },
  }[provider.name];
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
