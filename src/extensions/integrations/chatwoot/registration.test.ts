import { createHmac } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { BIA, setUpChatwootStory } from "../../../../test/stories/chatwoot-story.ts";

const ALLOWED = 20;
const story = setUpChatwootStory({
  WAYGATE_TRUSTED_PROXIES: "127.0.0.1",
  WAYGATE_UNKNOWN_RATE: String(ALLOWED),
});
const { chatwoot, read, save, test: tryOut } = story;

/** Posts a webhook as Chatwoot does. */
function postWebhook(
  body: object | string,
  { headers = {}, url = chatwoot.inbox.webhook_url ?? "", at = Date.now() } = {},
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac("sha256", chatwoot.inbox.secret ?? "")
    .update(`${timestamp}.${text}`)
    .digest("hex");
  return fetch(url, {
    method: "POST",
    body: text,
    headers: {
      "content-type": "application/json",
      "x-chatwoot-timestamp": timestamp,
      "x-chatwoot-signature": `sha256=${signature}`,
      ...headers,
    },
  });
}

test("saving registers the webhook once and returns neither the token nor the secrets", async () => {
  const { data } = await save();
  expect(chatwoot.inbox.webhook_url).toMatch(
    new RegExp(`^${story.baseUrl}/webhooks/chatwoot/${story.shop.id}/[\\w-]{32}$`),
  );
  expect(data).toMatchObject({ enabled: true, has_token: true, config: { access_token: "****en-1" } });
  const shown = JSON.stringify(await read());
  for (const secret of [chatwoot.token, chatwoot.inbox.secret, chatwoot.inbox.hmac_token])
    expect(shown).not.toContain(secret);
  const kept = await story.gateway.database.pool.query("select state::text from integration");
  const token = chatwoot.inbox.webhook_url?.split("/").at(-1);
  expect(
    kept.rows.filter(({ state }) => state.includes(`/webhooks/chatwoot/${story.shop.id}/`)),
  ).toHaveLength(1);
  expect(JSON.stringify(kept.rows)).not.toContain(token);
  const [registered, calls] = [chatwoot.inbox.webhook_url, chatwoot.calls.length];
  await save({ access_token: "****en-1", url: `${chatwoot.url}/api/v1/` });
  expect(chatwoot.inbox.webhook_url).toBe(registered);
  expect(chatwoot.calls.slice(calls).filter((call) => call.startsWith("PATCH"))).toEqual([]);
});

test("saving accepts alternative field names and creates an inbox if none is named", async () => {
  await story.shop.client.saveIntegration({
    id: story.shop.id,
    provider: "chatwoot",
    apiUrl: chatwoot.url,
    apiToken: chatwoot.token,
    accountId: chatwoot.account_id,
    autoCreate: true,
    inboxName: "Sales",
  });
  expect(chatwoot.inbox.name).toBe("Sales");
  expect((await read()).config).toMatchObject({ inbox_id: chatwoot.inbox.id, auto_create: false });
});

test("saving takes over an inbox of another gateway only with force", async () => {
  chatwoot.inbox.webhook_url = "https://other.example/hook";
  await expect(save()).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("other.example"),
  });
  expect(chatwoot.inbox.webhook_url).toBe("https://other.example/hook");
  await save({ force: true });
  expect(chatwoot.inbox.webhook_url).toContain(story.baseUrl);
});

test.each([
  ["a wrong token", { access_token: "wrong" }, {}, /underscores_in_headers/],
  ["a proxy that drops the header", {}, { dropTokenHeader: true }, /underscores_in_headers/],
  ["an inbox of another kind", { inbox_id: 8 }, {}, /Channel::WebWidget.*Channel::Api/],
  ["an inbox that does not exist", { inbox_id: 99 }, {}, /inbox_id: was not found/],
  ["another account", { account_id: 3 }, {}, /account_id: is not an account/],
  ["a server that is not Chatwoot", { url: "http://127.0.0.1:1" }, {}, /cannot be reached/],
  ["a metadata address", { url: "http://169.254.169.254" }, {}, /not allowed by the gateway's policy/],
  ["no address", { url: "chatwoot" }, {}, /url: must be an http or https address/],
  ["no inbox", { inbox_id: null }, {}, /inbox_id/],
  ["an unavailable Chatwoot", {}, { status: 500 as const }, /cannot be reached|401|500/],
  ["an agent's token", {}, {}, /not an administrator/],
])("saving with %s is rejected with a reason", async (who, fields, faults, words) => {
  if (who === "an agent's token") chatwoot.role = "agent";
  Object.assign(chatwoot.faults, faults);
  await expect(save(fields)).rejects.toMatchObject({ message: expect.stringMatching(words) });
  await expect(read()).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("the integration test explains what has broken since the save", async () => {
  await save();
  const fails = (words: string) =>
    expect(tryOut()).resolves.toMatchObject({ success: false, message: expect.stringContaining(words) });
  // The gateway has a private address, which this Chatwoot version would not call.
  await fails("SAFE_FETCH_ALLOW_PRIVATE_NETWORK");
  chatwoot.version = "4.13.1";
  expect(await tryOut()).toMatchObject({ success: true, details: { role: "administrator", inbox: "Sales" } });
  const registered = chatwoot.inbox.webhook_url;
  chatwoot.inbox.webhook_url = "";
  await fails("no longer leads to this gateway");
  chatwoot.inbox.webhook_url = registered;
  chatwoot.role = "agent";
  await fails("not an administrator");
  chatwoot.faults.dropTokenHeader = true;
  await fails("underscores_in_headers");
  chatwoot.faults.status = 429;
  expect(await tryOut()).toMatchObject({ success: false, status_code: 429 });
});

test("disabling and removing an integration clear its webhook unless another one replaced it", async () => {
  await save();
  await story.shop.client.saveIntegration({ id: story.shop.id, provider: "chatwoot", enabled: false });
  expect(chatwoot.inbox.webhook_url).toBe("");
  await story.shop.client.saveIntegration({ id: story.shop.id, provider: "chatwoot", enabled: true });
  expect(chatwoot.inbox.webhook_url).toContain(story.baseUrl);
  chatwoot.inbox.webhook_url = "https://other.example/hook";
  await story.remove();
  expect(chatwoot.inbox.webhook_url).toBe("https://other.example/hook");
});

describe("the webhook address of a Chatwoot inbox", () => {
  const WRONG = "w".repeat(32);
  const UNKNOWN = `/webhooks/chatwoot/999999/${WRONG}`;
  const path = () => new URL(String(chatwoot.inbox.webhook_url)).pathname;
  const withWrongToken = () => path().replace(/[^/]+$/, WRONG);
  const post = (to: string, from: string) =>
    fetch(`${story.gateway.url}${to}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": from },
      body: "{}",
    });

  /** Sends the headers of a 2 MB request without its body. Returns the response. */
  async function announce(to: string): Promise<string> {
    const { hostname, port } = new URL(story.gateway.url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, "connect");
    const head = [`POST ${to} HTTP/1.1`, "host: x", "content-type: application/json"];
    socket.write(
      `${[...head, "x-forwarded-for: 192.0.2.1", "content-length: 2000000"].join("\r\n")}\r\n\r\n`,
    );
    const [response] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return response.toString("latin1");
  }

  test("rejects a wrong or ended token before it reads the body, as it does for an unknown instance", async () => {
    await save();
    const ended = path();
    const places = [withWrongToken(), UNKNOWN, `/webhooks/chatwoot/x/${WRONG}`];
    for (const place of places) expect(await announce(place)).toMatch(/^HTTP\/1\.1 401 /);
    const responses = places.slice(0, 2).map(async (place) => {
      const body = await (await post(place, "192.0.2.2")).json();
      return { ...(body as object), request_id: "" };
    });
    const [one, other] = await Promise.all(responses);
    expect(one).toMatchObject({ code: "INVALID_CREDENTIALS" });
    expect(one).toEqual(other);
    await story.remove();
    expect(await announce(ended)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("counts wrong tokens by client address and returns 429, but still accepts the right one", async () => {
    await save();
    const statuses: number[] = [];
    for (let n = 0; n < ALLOWED + 10; n++) statuses.push((await post(withWrongToken(), "192.0.2.3")).status);
    expect(statuses.slice(0, ALLOWED)).toEqual(Array(ALLOWED).fill(401));
    expect(statuses).toContain(429);
    const limited = await post(withWrongToken(), "192.0.2.3");
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    // The body has no signature: only the token was accepted.
    expect((await post(path(), "192.0.2.3")).status).toBe(401);
    expect((await post(withWrongToken(), "192.0.2.4")).status).toBe(401);
  });

  test("needs a fresh signature if there is a secret", async () => {
    await save();
    const body = { event: "something_new" };
    expect((await postWebhook(body)).status).toBe(200);
    expect((await postWebhook(body, { headers: { "x-chatwoot-signature": "sha256=00" } })).status).toBe(401);
    // The signature is checked before the body is parsed.
    expect((await postWebhook("no JSON", { headers: { "x-chatwoot-signature": "sha256=00" } })).status).toBe(
      401,
    );
    expect((await postWebhook('{"event": ')).status).toBe(400);
    expect((await postWebhook(body, { at: Date.now() - 600_000 })).status).toBe(401);
    chatwoot.version = "4.12.0";
    await save();
    expect((await postWebhook(body, { headers: { "x-chatwoot-signature": "" } })).status).toBe(200);
  });
});

test("a webhook of another account or inbox, an echo and a duplicate are accepted and ignored", async () => {
  await save();
  await story.receive({ from: BIA, text: "Hello" });
  const conversation = await story.conversation(BIA);
  chatwoot.faults.holdWebhooks = true;
  const message = chatwoot.write(conversation.id, "hi");
  const body = {
    event: "message_created",
    id: message.id,
    content: "hi",
    message_type: "outgoing",
    inbox: { id: chatwoot.inbox.id },
    account: { id: chatwoot.account_id },
    conversation: { id: conversation.id, contact_inbox: { source_id: conversation.source_id } },
  };
  const headers = { "x-chatwoot-delivery": "one" };
  for (const other of [
    { ...body, account: { id: 77 } },
    { ...body, inbox: { id: 78 } },
    { ...body, source_id: "WAID:5:ABC" },
    { ...body, content_attributes: { external_echo: true } },
    { ...body, message_type: "incoming" },
    { ...body, conversation: "?" },
  ])
    expect((await postWebhook(other)).status).toBe(200);
  await story.untilIdle();
  expect(await story.sent()).toEqual([]);
  for (let n = 0; n < 3; n++) expect((await postWebhook(body, { headers })).status).toBe(200);
  await story.untilIdle();
  expect(await story.sent()).toHaveLength(1);
});

test("a created inbox keeps one conversation per contact only if resolved ones are reopened", async () => {
  for (const reopen_conversation of [true, false]) {
    await save({ inbox_id: undefined, auto_create: true, reopen_conversation });
    expect(chatwoot.inbox.lock_to_single_conversation).toBe(reopen_conversation);
    await story.remove();
  }
});

test("saving without reopen_conversation unlocks the existing inbox and returns a warning", async () => {
  chatwoot.inbox.lock_to_single_conversation = true;
  expect((await save()).data.warnings.join()).not.toMatch(/single conversation/);
  expect(chatwoot.inbox.lock_to_single_conversation).toBe(true);
  const { data } = await save({ reopen_conversation: false });
  expect(data.warnings).toContainEqual(
    expect.stringMatching(/had a single conversation.*reopen_conversation/),
  );
  expect(chatwoot.inbox.lock_to_single_conversation).toBe(false);
});

test("contact identifiers are signed, so an inbox may require the signature after the save", async () => {
  await save();
  chatwoot.inbox.hmac_mandatory = true;
  await story.receive({ from: BIA, text: "Hello" });
  await story.waitForMessage(({ content }) => content === "Hello");
});

test("a changed token for signing contacts is reported; messages arrive after the next save", async () => {
  chatwoot.version = "4.13.0";
  await save();
  const before = chatwoot.inbox.hmac_token;
  chatwoot.inbox.hmac_token = "another-token";
  try {
    await story.receive({ from: BIA, text: "signed" });
    await expect
      .poll(read)
      .toMatchObject({ status: "failing", last_error_code: "chatwoot_identity", waiting: 1 });
    expect(await tryOut()).toMatchObject({ success: false, message: expect.stringContaining("HMAC") });
    await save();
    await story.waitForMessage(({ content }) => content === "signed");
  } finally {
    chatwoot.inbox.hmac_token = before;
  }
});
