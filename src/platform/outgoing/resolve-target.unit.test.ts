import { expect, test } from "vitest";
import { createSafeFetch, type SafeFetchOptions } from "./safe-fetch.ts";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "mq.example.com": ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"],
  "inside.example.com": ["10.0.0.7"],
  "mixed.example.com": ["93.184.216.34", "127.0.0.1"],
};

async function resolve(url: string, options: Partial<SafeFetchOptions> = {}) {
  const outgoing = createSafeFetch({
    allowedHosts: ["external"],
    lookup: async (name) =>
      (NAMES[name] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    ...options,
  });
  try {
    return await outgoing.resolve({ url, totalMs: 5_000 });
  } finally {
    await outgoing.close();
  }
}

test("a client that dials itself gets every address of a name, and a literal address as it is", async () => {
  expect(await resolve("http://mq.example.com:4222/")).toEqual({
    outcome: "resolved",
    addresses: NAMES["mq.example.com"],
  });
  expect(await resolve("http://[2606:2800:220:1::1]:4222/")).toEqual({
    outcome: "resolved",
    addresses: ["2606:2800:220:1::1"],
  });
});

test.each([
  ["a private address", "http://10.0.0.7:4222/"],
  ["a number for this machine", "http://2130706433:4222/"],
  ["a name with a private address", "http://inside.example.com:4222/"],
  ["a name with one address of this machine among others", "http://mixed.example.com:4222/"],
  ["a name without an address", "http://none.example.com:4222/"],
  ["the metadata service of clouds", "http://169.254.169.254:4222/"],
])("a client that dials itself gets nothing for %s", async (_, url) => {
  expect(await resolve(url)).toMatchObject({ outcome: "failed", failure: "blocked" });
});

test("a private address that the operator allows is returned", async () => {
  const found = await resolve("http://inside.example.com:4222/", { allowedHosts: ["10.0.0.0/8"] });
  expect(found).toEqual({ outcome: "resolved", addresses: ["10.0.0.7"] });
});

test("nothing is dialled past the proxy of all outgoing requests", async () => {
  const found = await resolve("http://mq.example.com:4222/", { egressProxy: "http://127.0.0.1:9" });
  expect(found).toMatchObject({ outcome: "failed", failure: "blocked" });
  expect(found).toHaveProperty("error", expect.stringMatching(/WAYGATE_EGRESS_PROXY/));
});

test("a gateway that sends only with TLS resolves nothing for a connection without it", async () => {
  const secure = { httpsOnly: true };
  expect(await resolve("http://mq.example.com:4222/", secure)).toMatchObject({ failure: "invalid_url" });
  expect(await resolve("https://mq.example.com:4222/", secure)).toMatchObject({ outcome: "resolved" });
});
