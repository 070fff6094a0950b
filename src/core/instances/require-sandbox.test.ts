import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { createHttpRequester, type HttpRequester } from "../../../test/http-requester.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type Client, createClient } from "../../client/client.ts";
import { contract } from "../../contract.ts";

const LOGIN = { email: "boss@shop.example", password: PASSWORD };

let test: TestGateway;
let request: HttpRequester;
let owned: TestInstance;
/** Instances created while the account could use the sandbox. */
let shops: { id: number; key: string };
/** A queued send of that instance. */
let queued: string;

beforeAll(async () => {
  test = await startTestGateway({ WAYGATE_SANDBOX: "on" });
  request = createHttpRequester(() => test.url);
  owned = await test.connectInstance();
  await test.owner.createAccount({ name: "Shop", ...LOGIN, user_name: "Boss" });
  const { data } = await (await shop()).createInstance({ name: "Shop", network: "sandbox" });
  shops = { id: data.id, key: data.api_key };
  await clientOf(shops).sandboxScan({ id: shops.id });
  await waitUntil(() => isConnected(shops));
  const late = { number: "5511987651235", text: "Later", async: true, delay: 30_000 };
  queued = (await clientOf(shops).sendText({ id: shops.id, ...late })).data.jobId ?? "";
});
afterAll(() => test.stop());

const shop = async (): Promise<Client> => (await signIn(test.url, LOGIN)).client;
const clientOf = ({ key }: { key: string }) => createClient({ baseUrl: test.url, apiKey: key });

const REFUSED = {
  code: "FORBIDDEN",
  status: 403,
  message: expect.stringContaining("The sandbox network is disabled for this account."),
};

/** The responses of each sandbox route to an empty body and to one with every field. */
async function answersOf({ id, key }: { id: number; key: string }): Promise<string[]> {
  const from = "5511987651234";
  const body = {
    from,
    text: "x",
    message_id: "x",
    reaction: "x",
    subject: "x",
    group_jid: "120363111111111111@g.us",
    action: "add",
    participants: [from],
    label_id: "7",
    options: ["x"],
    presence: "typing",
  };
  const codes = new Set<string>();
  for (const { http, access } of Object.values(contract)) {
    if (!http.includes("/sandbox/") || access === "public") continue;
    const given = http.endsWith("/status") ? { from, text: "x" } : body;
    codes.add((await request(http.replace(":id", String(id)), given, { "x-api-key": key })).body.code);
  }
  return [...codes];
}

const isConnected = async ({ id, key }: { id: number; key: string }) =>
  (await clientOf({ key }).getInstanceStatus({ id })).data.connected;

const statusOf = async ({ id, key }: { id: number; key: string }) =>
  (await clientOf({ key }).getInstanceStatus({ id })).data;
const messageOf = (job_id: string) =>
  test.database.db
    .selectFrom("message")
    .select(["status", "error"])
    .where("job_id", "=", job_id)
    .executeTakeFirstOrThrow();

async function send(
  { id, key }: { id: number; key: string },
  more: object = {},
): Promise<string | undefined> {
  const text = { number: "5511987651234", text: "Hello" };
  return (await clientOf({ key }).sendText({ id, ...text, ...more })).data.status;
}

describe("a sandbox that only the owner's account may use", () => {
  beforeAll(() => test.restart({ WAYGATE_SANDBOX: "owner" }));

  it("rejects new sandbox instances of other accounts, and accepts the owner's", async () => {
    const made = (await shop()).createInstance({ name: "Another", network: "sandbox" });
    await expect(made).rejects.toMatchObject(REFUSED);
    const { id } = await test.createInstance();
    expect(id).toBeGreaterThan(0);
  });

  it("rejects sandbox requests of other accounts, and runs the owner's", async () => {
    expect(await answersOf(shops)).toEqual(["FORBIDDEN"]);
    const { id, api_key } = owned;
    await waitUntil(() => isConnected({ id, key: api_key }));
    const receive = { from: "5511987651234", text: "Hello" };
    const { body } = await request(`POST /api/v1/instances/${id}/sandbox/receive`, receive, {
      "x-api-key": api_key,
    });
    expect(body.success).toBe(true);
  });

  it("stops the existing sandbox instances of another account, and reports the reason", async () => {
    await waitUntil(async () => (await statusOf(shops)).status === "error");
    const { data } = await clientOf(shops).getInstance({ id: shops.id });
    expect(data.last_disconnect_reason).toMatch(/^sandbox_not_allowed: The sandbox network is disabled/);
    await expect(send(shops)).rejects.toMatchObject(REFUSED);
    await expect(send(shops, { async: true })).rejects.toMatchObject(REFUSED);
    await expect(clientOf(shops).connectInstance({ id: shops.id })).rejects.toMatchObject({
      code: "CONNECT_FAILED",
      details: { reason: expect.stringContaining("sandbox_not_allowed") },
    });
  });

  it("fails the queued sends of such an instance with the same reason", async () => {
    await waitUntil(async () => (await messageOf(queued)).status === "failed");
    expect((await messageOf(queued)).error).toMatchObject({
      code: "FORBIDDEN",
      message: REFUSED.message,
      retryable: false,
    });
  });
});

describe("a sandbox that is switched off", () => {
  beforeAll(() => test.restart({ WAYGATE_SANDBOX: "off" }));

  it("rejects the owner's account too, and stops its instances", async () => {
    await expect(test.createInstance()).rejects.toMatchObject(REFUSED);
    const instance = { id: owned.id, key: owned.api_key };
    expect(await answersOf(instance)).toEqual(["FORBIDDEN"]);
    await waitUntil(async () => (await statusOf(instance)).status === "error");
    await expect(send(instance)).rejects.toMatchObject(REFUSED);
  });

  it("reconnects the instances automatically once it is allowed again", async () => {
    await test.restart({ WAYGATE_SANDBOX: "on" });
    await waitUntil(() => isConnected(shops));
    expect(await send(shops)).toBe("sent");
    await test.restart({ WAYGATE_SANDBOX: "off" });
  });

  it("does not affect instances on WhatsApp", async () => {
    const { data } = await (await shop()).createInstance({ name: "Real", network: "whatsapp" });
    expect(data.status).toBe("created");
  });
});
