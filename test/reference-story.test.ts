import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.ts";
import { OWNER } from "./sign-in.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

interface Description {
  paths: Record<string, Record<string, { requestBody: { content: Record<string, { example: object }> } }>>;
}

test("the request bodies in the reference create, pair and use an instance without changes", async () => {
  const description = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Description;
  const execute = async (path: string, headers: Record<string, string>, id = 0, changes = {}) => {
    const example = description.paths[path]?.post?.requestBody.content["application/json"]?.example;
    const response = await fetch(`${gateway.url}${path.replace("{id}", String(id))}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ ...example, ...changes }),
    });
    const result = (await response.json()) as { token: string; data: { id: number; api_key: string } };
    expect(response.status, `${path}: ${JSON.stringify(result)}`).toBe(200);
    return result;
  };
  const { token } = await execute("/api/auth/login", {}, 0, OWNER);
  const bearer = { authorization: `Bearer ${token}` };
  const { data } = await execute("/api/v1/instances", bearer);
  const key = { "x-api-key": data.api_key };
  await execute("/api/v1/instances/{id}/sandbox/scan", key, data.id);
  await execute("/api/v1/instances/{id}/send-text", key, data.id);
  await execute("/api/v1/instances/{id}/sandbox/receive", key, data.id);
  await execute("/api/v1/instances/{id}/webhooks", key, data.id);
});
