import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeChatwoot } from "../../../../test/fake-chatwoot.ts";
import { startTestGateway, type TestGateway, type TestInstance } from "../../../../test/gateway.ts";

const ALLOWED = 20;
const WRONG = "w".repeat(32);

const chatwoot = new FakeChatwoot();
let gateway: TestGateway;
let shop: TestInstance;
let path: string;

beforeAll(async () => {
  await chatwoot.start();
  gateway = await startTestGateway({
    WAYGATE_TRUSTED_PROXIES: "127.0.0.1",
    WAYGATE_UNKNOWN_RATE: String(ALLOWED),
  });
  shop = await gateway.connectInstance();
  const { url, token: access_token, account_id, inbox } = chatwoot;
  const config = { url, access_token, account_id, inbox_id: inbox.id };
  await shop.client.saveIntegration({ id: shop.id, provider: "chatwoot", config });
  path = new URL(String(chatwoot.inbox.webhook_url)).pathname;
});
afterAll(async () => {
  await gateway.stop();
  await chatwoot.stop();
});

const post = (to: string, from: string, body = "{}") =>
  fetch(`${gateway.url}${to}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": from },
    body,
  });
const withWrongToken = () => path.replace(/[^/]+$/, WRONG);

/** Sends the headers of a request of two megabytes without the body, and returns the response. */
async function announce(to: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  const head = [`POST ${to} HTTP/1.1`, "host: x", "content-type: application/json"];
  socket.write(`${[...head, "x-forwarded-for: 192.0.2.1", "content-length: 2000000"].join("\r\n")}\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return answer.toString("latin1");
}

describe("the webhook address of a Chatwoot inbox", () => {
  test("rejects a wrong token before it reads the body", async () => {
    expect(await announce(withWrongToken())).toMatch(/^HTTP\/1\.1 401 /);
    expect(await announce(`/webhooks/chatwoot/999999/${WRONG}`)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await announce(`/webhooks/chatwoot/x/${WRONG}`)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("returns the same response for a wrong token and for an unknown instance", async () => {
    const answers = [withWrongToken(), `/webhooks/chatwoot/999999/${WRONG}`].map(async (to) => {
      const { request_id: _, ...body } = (await (await post(to, "192.0.2.2")).json()) as Record<
        string,
        unknown
      >;
      return body;
    });
    const [one, other] = await Promise.all(answers);
    expect(one).toMatchObject({ code: "INVALID_CREDENTIALS" });
    expect(one).toEqual(other);
  });

  test("counts wrong tokens by client address and returns 429, but still accepts the right one", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < ALLOWED + 10; n++) statuses.push((await post(withWrongToken(), "192.0.2.3")).status);
    expect(statuses.slice(0, ALLOWED)).toEqual(Array(ALLOWED).fill(401));
    expect(statuses).toContain(429);
    const limited = await post(withWrongToken(), "192.0.2.3");
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    // The body is not signed: only the token was accepted.
    expect((await post(path, "192.0.2.3")).status).toBe(401);
    expect((await post(withWrongToken(), "192.0.2.4")).status).toBe(401);
  });

  test("does not parse JSON if the signature of the body is wrong", async () => {
    expect(chatwoot.inbox.secret).toBeTruthy();
    const response = await post(path, "192.0.2.5", "this is not JSON");
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      401,
      "INVALID_CREDENTIALS",
    ]);
  });

  test("rejects the token of a removed integration", async () => {
    await shop.client.deleteIntegration({ id: shop.id, provider: "chatwoot" });
    expect(await announce(path)).toMatch(/^HTTP\/1\.1 401 /);
  });
});
