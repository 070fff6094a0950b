import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway, waitUntil } from "../../test/gateway.ts";

const MOST = 5;
const METRICS_TOKEN = "a-metrics-token-for-this-test";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    WAYGATE_MAX_REQUESTS: String(MOST),
    WAYGATE_ACK_TIMEOUT: "2m",
    WAYGATE_METRICS_TOKEN: METRICS_TOKEN,
  });
});

afterAll(() => gateway.stop());

test("an overloaded node rejects new work with 503 and Retry-After, and its health reports it", async () => {
  const { id, api_key, client } = await gateway.connectInstance();
  const leave = new AbortController();
  const headers = { "x-api-key": api_key, "content-type": "application/json" };
  // The network never acknowledges messages to this number, so each accepted send waits for its outcome.
  const sends: Promise<number>[] = [];
  const statuses: number[] = [];
  const send = async () => {
    const path = `/api/v1/instances/${id}/send-text`;
    const body = JSON.stringify({ number: SILENT, text: "Hello" });
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers,
      signal: leave.signal,
      body,
    });
    return statuses.push(response.status);
  };
  const request = () => fetch(`${gateway.url}/api/v1/instances/${id}/status`, { headers });
  await waitUntil(() => {
    if (!statuses.includes(503)) sends.push(send().catch(() => 0));
    return statuses.includes(503);
  });
  expect(new Set(statuses)).toEqual(new Set([503]));
  const refused = await request();
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ success: false, code: "UNAVAILABLE" });
  // The results do not matter: on a slow machine the database may respond late.
  for (const path of ["health", "health/ready", "health/live"]) {
    expect(await (await fetch(`${gateway.url}/${path}`)).json()).toMatchObject({ name: "Waygate" });
  }
  // Only health is public: the metrics require their token, and other reports wait too.
  const metrics = (token: string) =>
    fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  expect((await metrics(METRICS_TOKEN)).status).toBe(200);
  expect((await metrics("a wrong token of some length")).status).toBe(503);
  const path = `${gateway.url}/webhooks/chatwoot/${id}/${"w".repeat(32)}`;
  expect((await fetch(path, { method: "POST", body: "{}" })).status).toBe(503);
  leave.abort();
  await Promise.all(sends);
  await waitUntil(async () => (await request()).status === 200);
  expect((await client.getInstanceStatus({ id })).data.connected).toBe(true);
});

const SILENT = "5511999990002";
