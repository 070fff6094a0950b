import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { contract } from "../../contract.ts";
import { readInput } from "../../platform/http/input/read-input.ts";
import type { Route } from "../../platform/http/route.ts";
import { readOpenApiFile } from "../../platform/openapi/openapi-file.ts";
import { postmanCollection } from "./postman-collection.ts";

interface Item {
  name: string;
  event: { listen: string; script: { exec: string[] } }[];
  request: {
    method: string;
    auth: { type: string };
    url: { raw: string; path: string[]; variable: { key: string; value: string }[] };
    body?: { raw: string };
  };
}

interface Collection {
  info: { schema: string };
  variable: { key: string }[];
  item: { name: string; item: Item[] }[];
}

const collection = postmanCollection(JSON.parse(readOpenApiFile())) as unknown as Collection;
const items = collection.item.flatMap(({ item }) => item);
const routes = Object.entries(contract) as [string, Route][];

function itemOf({ http }: Route): Item | undefined {
  const [method, path] = http.split(" ");
  return items.find(
    ({ request: { method: used, url } }) => used === method && url.raw === `{{base_url}}${path}`,
  );
}

test("the Postman collection has every route once, in the folder of its tag", () => {
  expect(items).toHaveLength(routes.length);
  for (const [name, route] of routes) {
    const item = itemOf(route);
    expect(item, name).toBeDefined();
    const folder = collection.item.find(({ item: inside }) => item && inside.includes(item));
    expect(folder?.name).toBe(route.tag);
  }
});

test("the Postman collection has version 2.1 and the variables of its requests", () => {
  expect(collection.info.schema).toContain("/v2.1.0/");
  const known = new Set(collection.variable.map(({ key }) => key));
  expect([...known]).toEqual(expect.arrayContaining(["base_url", "api_key", "token"]));
  const used = [...JSON.stringify(collection.item).matchAll(/\{\{(\w+)\}\}/g)].map(([, name = ""]) => name);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

test("each Postman request has the credential that its route requires", () => {
  const expected = {
    public: "noauth",
    account: "bearer",
    instance: "apikey",
    key: "apikey",
    key_or_admin: "apikey",
  };
  for (const [name, route] of routes) {
    const wanted = { ...expected, admin: "apikey", owner: "bearer", manager: "bearer" }[route.access];
    expect(itemOf(route)?.request.auth.type, name).toBe(wanted);
  }
});

describe("a route accepts its example body of the Postman collection", () => {
  const withBody = routes.filter(([, route]) => itemOf(route)?.request.body?.raw);

  test.each(withBody)("%s", (_, route) => {
    const { url, body } = (itemOf(route) as Item).request;
    const path = Object.fromEntries(
      url.variable.map(({ key, value }) => [key, value.startsWith("{{") ? "1" : value]),
    );
    const input = JSON.parse(body?.raw ?? "{}");
    expect(() => readInput(route, { path, query: {}, body: input })).not.toThrow();
  });
});

test("a Postman request that accepts only a file asks for the file", () => {
  const item = itemOf(contract.importLeads) as Item;
  expect(item.request.body).toEqual({ mode: "formdata", formdata: [{ key: "file", type: "file", src: [] }] });
});

test("the Postman requests for sign-in and new instances save what other requests need", () => {
  const responses = { login: { token: "eyJ.token" }, createInstance: { data: { id: 7, api_key: "wg_key" } } };
  const kept: Record<string, unknown> = {};
  const pm = (body: unknown) => ({
    response: { code: 200, json: () => body },
    collectionVariables: {
      set: (name: string, value: unknown) => void Object.assign(kept, { [name]: value }),
    },
  });
  for (const [name, body] of Object.entries(responses)) {
    const item = itemOf(contract[name as keyof typeof contract]);
    const [{ listen, script } = { listen: "", script: { exec: [] } }] = item?.event ?? [];
    expect(listen).toBe("test");
    runInNewContext(script.exec.join("\n"), { pm: pm(body) });
  }
  expect(kept).toEqual({ token: "eyJ.token", instance_id: 7, api_key: "wg_key" });
});

test("webhook addresses in the Postman collection are addresses of receivers", () => {
  for (const item of items) {
    const path = item.request.url.raw;
    if (!/webhook/.test(path) || !item.request.body?.raw.includes('"url"')) continue;
    expect(JSON.parse(item.request.body.raw).url, path).toMatch(/\/hook$/);
  }
});
