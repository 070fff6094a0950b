import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestInstance } from "../../../test/gateway.ts";
import { HOSTILE_TEXTS } from "../../../test/security/json-values.ts";
import { OWNER } from "../../../test/sign-in.ts";
import {
  hiddenFields,
  type IssuedTokens,
  type OAuthParameters,
  type OAuthStory,
  PUBLIC_URL,
  REDIRECT_URI,
  RESOURCE,
  startOAuthStory,
} from "../../../test/stories/oauth-story.ts";
import { unescapeHtml } from "../public-pages/page-layout.ts";
import { oauthWireContract } from "./wire-contract.ts";

let story: OAuthStory;
let shop: TestInstance;
/** A client with the fields of its sign-in page and its verifier. */
let asking: { client_id: string; code_verifier: string; fields: OAuthParameters };

beforeAll(async () => {
  story = await startOAuthStory({ WAYGATE_UNKNOWN_RATE: "0" });
  shop = await story.gateway.createInstance({ name: "Shop" });
  const client_id = await story.register();
  const { url, verifier } = story.request(client_id);
  const fields = hiddenFields(await (await story.fetch(url)).text());
  asking = { client_id, code_verifier: verifier, fields };
});
afterAll(() => story.stop());

/** The authorization code after the user allows these scopes. */
async function getCode(
  ...scopes: string[]
): Promise<{ client_id: string; code: string; code_verifier: string }> {
  const { fields, ...client } = asking;
  const page = await story.post("/oauth/authorize", { ...fields, ...OWNER });
  const { ticket = "" } = hiddenFields(await page.text());
  const choices = [
    `instance.${shop.id}`,
    ...(scopes.length > 0 ? scopes : ["read"]).map((one) => `scope.${one}`),
  ];
  const chosen = Object.fromEntries(choices.map((name) => [name, "on"]));
  const response = await story.post("/oauth/consent", { ticket, decision: "allow", ...chosen });
  const location = new URL(response.headers.get("location") ?? "");
  return { ...client, code: location.searchParams.get("code") ?? "" };
}

async function connect(...scopes: string[]): Promise<IssuedTokens & { client_id: string }> {
  const response = await exchange(await getCode(...scopes));
  return { ...((await response.json()) as IssuedTokens), client_id: asking.client_id };
}

function exchange(fields: OAuthParameters) {
  return story.post("/oauth/token", {
    grant_type: "authorization_code",
    redirect_uri: REDIRECT_URI,
    resource: RESOURCE,
    ...fields,
  });
}

async function errorOf(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { error: unknown }).error];
}

const statusOf = async (token: string) => (await story.listTools(token)).status;
const grants = async () => (await story.gateway.owner.listAssistants({ limit: 200 })).data.length;

describe("a code", () => {
  test("works once, and its second use ends the tokens of the first", async () => {
    const fields = await getCode();
    const first = (await (await exchange(fields)).json()) as { access_token: string };
    expect(await statusOf(first.access_token)).toBe(200);
    expect(await errorOf(await exchange(fields))).toEqual([400, "invalid_grant"]);
    expect(await statusOf(first.access_token)).toBe(401);
  });

  test.each<[string, OAuthParameters]>([
    ["another verifier", { code_verifier: "a".repeat(43) }],
    ["a verifier that is too short", { code_verifier: "a" }],
    ["another redirect address", { redirect_uri: "https://assistant.example/other" }],
  ])("is refused with %s, and is used up", async (_, changes) => {
    const fields = await getCode();
    expect(await errorOf(await exchange({ ...fields, ...changes }))).toEqual([400, "invalid_grant"]);
    expect(await errorOf(await exchange(fields))).toEqual([400, "invalid_grant"]);
  });

  test("is refused to another client, without a verifier, for another resource, and after its time", async () => {
    const other = await story.register();
    const [first, second, third, late] = [await getCode(), await getCode(), await getCode(), await getCode()];
    expect(await errorOf(await exchange({ ...first, client_id: other }))).toEqual([400, "invalid_grant"]);
    expect(await errorOf(await exchange({ ...second, code_verifier: "" }))).toEqual([400, "invalid_request"]);
    const foreign = { ...third, resource: "https://elsewhere.example/mcp" };
    expect(await errorOf(await exchange(foreign))).toEqual([400, "invalid_target"]);
    await story.gateway.database.db
      .updateTable("oauth_code")
      .set({ expires_at: new Date(0) })
      .execute();
    expect(await errorOf(await exchange(late))).toEqual([400, "invalid_grant"]);
  });

  test.each<[string, OAuthParameters, number, string]>([
    ["an unknown client", { client_id: "oac_aaaaaaaaaaaaaaaaaaaaaa" }, 401, "invalid_client"],
    ["no client", { client_id: "" }, 400, "invalid_request"],
    ["an unknown kind of grant", { grant_type: "password" }, 400, "unsupported_grant_type"],
    ["a code that is no code", { code: "wgo_c_x" }, 400, "invalid_grant"],
    ["a code that is too long", { code: "x".repeat(300) }, 400, "invalid_request"],
  ])("is refused with %s", async (_, changes, ...expected) => {
    expect(await errorOf(await exchange({ ...(await getCode()), ...changes }))).toEqual(expected);
  });
});

describe("a refresh token", () => {
  const refresh = (client_id: string, refresh_token: string, more: OAuthParameters = {}) =>
    story.post("/oauth/token", { grant_type: "refresh_token", client_id, refresh_token, ...more });

  test("is replaced by each use, and a second use ends everything that followed from it", async () => {
    const { client_id, refresh_token, access_token } = await connect();
    const second = (await (await refresh(client_id, refresh_token)).json()) as Record<string, string>;
    expect([await statusOf(access_token), await statusOf(second.access_token ?? "")]).toEqual([200, 200]);
    expect(await errorOf(await refresh(client_id, refresh_token))).toEqual([400, "invalid_grant"]);
    expect([await statusOf(access_token), await statusOf(second.access_token ?? "")]).toEqual([401, 401]);
    expect(await errorOf(await refresh(client_id, second.refresh_token ?? ""))).toEqual([
      400,
      "invalid_grant",
    ]);
  });

  test("cannot gain scopes, but can lose some for one access token", async () => {
    const { client_id, refresh_token } = await story.connect({
      instances: [shop.id],
      scopes: ["read", "send"],
    });
    const more = await refresh(client_id, refresh_token, { scope: "read groups" });
    expect(await errorOf(more)).toEqual([400, "invalid_scope"]);
    const fewer = (await (await refresh(client_id, refresh_token, { scope: "read" })).json()) as Record<
      string,
      string
    >;
    expect(fewer.scope).toBe("read");
    const tools = await (await story.listTools(fewer.access_token ?? "")).text();
    expect(tools).toContain("get_messages");
    expect(tools).not.toContain("send_message");
  });

  test("ends with the consent after 90 days, however often it is used", async () => {
    const { client_id, refresh_token } = await connect();
    const { db } = story.gateway.database;
    const grant = db.selectFrom("oauth_grant").select(["id", "expires_at", "created_at"]);
    const { id, expires_at, created_at } = await grant.orderBy("id", "desc").executeTakeFirstOrThrow();
    expect(expires_at.getTime() - created_at.getTime()).toBe(90 * 86_400_000);
    const soon = new Date(Date.now() + 600_000);
    await db.updateTable("oauth_grant").set({ expires_at: soon }).where("id", "=", id).execute();
    const last = (await (await refresh(client_id, refresh_token)).json()) as IssuedTokens;
    expect(last.expires_in).toBeLessThanOrEqual(600);
    const ends = await db
      .selectFrom("oauth_token")
      .select("expires_at")
      .where("grant_id", "=", id)
      .where("kind", "=", "refresh")
      .where("used_at", "is", null)
      .execute();
    expect(ends).toEqual([{ expires_at: soon }]);
  });

  test("is no access token, and an access token is no refresh token", async () => {
    const { client_id, refresh_token, access_token } = await connect();
    expect(await statusOf(refresh_token)).toBe(401);
    expect(await errorOf(await refresh(client_id, access_token))).toEqual([400, "invalid_grant"]);
  });
});

describe("a revocation", () => {
  const revoke = (client_id: string, token: string) => story.post("/oauth/revoke", { client_id, token });

  test("of an access token ends it alone, and of a refresh token ends all", async () => {
    const { client_id, refresh_token, access_token } = await connect();
    expect((await revoke(client_id, access_token)).status).toBe(200);
    expect(await statusOf(access_token)).toBe(401);
    const fields = { grant_type: "refresh_token", client_id, refresh_token };
    const next = (await (await story.post("/oauth/token", fields)).json()) as Record<string, string>;
    expect((await revoke(client_id, next.refresh_token ?? "")).status).toBe(200);
    expect(await statusOf(next.access_token ?? "")).toBe(401);
  });

  test("of an unknown token is no error, and of another client's token changes nothing", async () => {
    const { client_id, access_token } = await connect();
    expect((await revoke(client_id, "nothing")).status).toBe(200);
    const other = await story.register();
    expect(await errorOf(await revoke(other, access_token))).toEqual([400, "unauthorized_client"]);
    expect(await statusOf(access_token)).toBe(200);
  });
});

describe("the token of an assistant", () => {
  test("is refused at every other route, in every header", async () => {
    const { access_token } = await connect();
    for (const route of [
      "GET /api/auth/me",
      "GET /api/account/assistants",
      "GET /api/v1/conversations",
      "GET /instance/all",
      "GET /api/v1/instances/:id/status",
      "POST /api/v1/instances/:id/send-text",
      "POST /api/v1/send",
      "GET /api/admin/accounts",
    ]) {
      const [method = "GET", path = ""] = route.replace(":id", String(shop.id)).split(" ");
      for (const header of ["authorization", "x-auth-token", "x-api-key", "admintoken"]) {
        const value = header === "authorization" ? `Bearer ${access_token}` : access_token;
        const { status } = await story.fetch(path, { method, headers: { [header]: value } });
        expect([route, header, status]).toEqual([route, header, 401]);
      }
    }
  });

  test("is stored only as a digest, as are codes and refresh tokens", async () => {
    const tokens = await connect();
    const { rows } = await story.gateway.database.pool.query(
      "select (select json_agg(t) from oauth_token t)::text || (select json_agg(c) from oauth_code c)::text as all",
    );
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect(rows[0].all).not.toContain(token);
      expect(rows[0].all).not.toContain(Buffer.from(token).toString("hex"));
    }
  });
});

describe("an authorization request", () => {
  test.each<[string, OAuthParameters]>([
    ["an unknown client", { client_id: "oac_aaaaaaaaaaaaaaaaaaaaaa" }],
    ["a client that is no id", { client_id: "<script>alert(1)</script>" }],
    ["a document on this machine", { client_id: "https://127.0.0.1/client.json" }],
    ["a document in the private network", { client_id: "https://10.0.0.1/client.json" }],
    ["an unregistered redirect address", { redirect_uri: "https://evil.example/callback" }],
    ["a longer redirect address", { redirect_uri: `${REDIRECT_URI}/more` }],
    ["a redirect address with a query", { redirect_uri: `${REDIRECT_URI}?a=1` }],
    ["no redirect address", { redirect_uri: "" }],
    ["a port that no program has", { redirect_uri: "http://localhost:99999/callback" }],
    ["a state that is too long", { state: "s".repeat(2_001) }],
  ])("with %s gets a page, and the browser stays here", async (_, changes) => {
    const redirect_uris = [REDIRECT_URI, "http://localhost/callback"];
    const { url } = story.request(await story.register({ redirect_uris }), changes);
    const response = await story.fetch(url);
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
    const html = await response.text();
    expect(html).toContain("Connect an assistant");
    expect(html).not.toContain("<script");
  });

  test.each<[string, OAuthParameters, string]>([
    ["another response type", { response_type: "token" }, "unsupported_response_type"],
    ["no PKCE", { code_challenge: "" }, "invalid_request"],
    ["plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
    ["a short challenge", { code_challenge: "abc" }, "invalid_request"],
    ["no resource", { resource: "" }, "invalid_target"],
    ["a foreign resource", { resource: "https://elsewhere.example/mcp" }, "invalid_target"],
    ["another path of this gateway", { resource: `${PUBLIC_URL}/api` }, "invalid_target"],
    ["unknown scopes only", { scope: "admin everything" }, "invalid_scope"],
  ])(
    "with %s gets a page that names the client's address and links to it with the error",
    async (_, changes, error) => {
      const { url } = story.request(await story.register(), changes);
      const form = { ...Object.fromEntries(url.searchParams), email: OWNER.email, password: "wrong" };
      for (const response of [await story.fetch(url), await story.post("/oauth/authorize", form)]) {
        expect([response.status, response.headers.get("location")]).toEqual([400, null]);
        const html = await response.text();
        expect(html).toContain("<b>assistant.example</b>");
        const [, link = ""] = /<a href="(https:\/\/assistant[^"]+)"/.exec(html) ?? [];
        expectError(new URL(unescapeHtml(link)), error);
      }
    },
  );

  function expectError(location: URL, error: string) {
    expect(`${location.origin}${location.pathname}`).toBe(REDIRECT_URI);
    const { error: code, state, iss } = Object.fromEntries(location.searchParams);
    expect({ code, state, iss }).toEqual({ code: error, state: "st1", iss: PUBLIC_URL });
  }

  test("with a repeated parameter is refused", async () => {
    const { url } = story.request(await story.register());
    url.searchParams.append("redirect_uri", "https://evil.example/");
    expect((await story.fetch(url)).status).toBe(400);
  });
});

describe("the pages", () => {
  const HOSTILE = `"><script>alert(1)</script>\u202e\nGateway`;

  async function open(changes: OAuthParameters = {}, metadata?: object) {
    const { url } = story.request(await story.register(metadata), changes);
    const response = await story.fetch(url);
    return { response, html: await response.text() };
  }

  async function openConsent() {
    const { html } = await open();
    const response = await story.post("/oauth/authorize", { ...hiddenFields(html), ...OWNER });
    return { response, html: await response.text() };
  }

  test("forbid scripts, frames, and forms to other places than the redirect address", async () => {
    for (const { response } of [await open(), await openConsent()]) {
      expect(response.status).toBe(200);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|script-src/);
      expect(response.headers.get("x-frame-options")).toBe("DENY");
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
    const { response } = await openConsent();
    expect(response.headers.get("content-security-policy")).toContain(
      "form-action 'self' https://assistant.example;",
    );
  });

  test("show the name of an application as text, and where the browser goes afterwards", async () => {
    const { html } = await open({ state: HOSTILE }, { client_name: HOSTILE, redirect_uris: [REDIRECT_URI] });
    expect(html).not.toContain("<script");
    expect(html.replaceAll(/ value="[^"]*"/g, "")).not.toContain("\u202e");
    expect(html).toContain("<q>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; Gateway</q>");
    expect(html).toContain("<b>assistant.example</b>");
    expect(hiddenFields(html).state).toBe(HOSTILE);
  });

  test("ask again after a wrong password, and say when there were too many", async () => {
    const { html } = await open();
    const attempt = () =>
      story.post("/oauth/authorize", {
        ...hiddenFields(html),
        email: "nobody@example.com",
        password: "wrong",
      });
    const wrong = await attempt();
    expect(wrong.status).toBe(401);
    const again = await wrong.text();
    expect(again).toContain("The e-mail or the password is wrong.");
    expect(again).toContain('value="nobody@example.com"');
    expect(again).not.toContain('value="wrong"');
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++) statuses.push((await attempt()).status);
    expect(statuses).toContain(429);
    await story.gateway.database.db.deleteFrom("use_counter").execute();
  });

  test("know the browser again, so that wrong passwords of others do not keep its user out", async () => {
    const { html } = await open();
    const signIn = (password: string, cookie = "") =>
      story.post(
        "/oauth/authorize",
        { ...hiddenFields(html), ...OWNER, password },
        {
          origin: PUBLIC_URL,
          cookie,
        },
      );
    const first = await signIn(OWNER.password);
    const cookie = first.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^__Host-waygate-device=\S+; Path=\/; .*Secure; HttpOnly; SameSite=Strict$/);
    for (let i = 0; i < 5; i++) await signIn("wrong");
    // The wait must not end before the test reads it.
    await story.gateway.database.pool.query("update use_counter set last_at = last_at + interval '1 hour'");
    expect((await signIn(OWNER.password)).status).toBe(429);
    expect((await signIn(OWNER.password, cookie.split(";")[0])).status).toBe(200);
    await story.gateway.database.db.deleteFrom("use_counter").execute();
  });

  test("reject a user whose password another user has set", async () => {
    const users = story.gateway.database.db.updateTable("account_user");
    await users.set({ must_change_password: true }).where("email", "=", OWNER.email).execute();
    const attempt = async () =>
      story.post("/oauth/authorize", { ...hiddenFields((await open()).html), ...OWNER });
    const refused = await attempt();
    expect(refused.status).toBe(403);
    const page = await refused.text();
    expect(page).toContain("choose your own");
    expect(hiddenFields(page)).not.toHaveProperty("ticket");
    await users.set({ must_change_password: false }).where("email", "=", OWNER.email).execute();
    expect(hiddenFields(await (await attempt()).text())).toHaveProperty("ticket");
  });

  test("refuse a form of another site, even with everything that it needs", async () => {
    const { html } = await openConsent();
    const fields = {
      ...hiddenFields(html),
      [`instance.${shop.id}`]: "on",
      "scope.read": "on",
      decision: "allow",
    };
    const before = await story.gateway.database.db.selectFrom("oauth_grant").select("id").execute();
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ] as Record<string, string>[]) {
      expect((await story.post("/oauth/consent", fields, headers)).status).toBe(400);
      const signIn = { ...hiddenFields((await open()).html), ...OWNER };
      expect((await story.post("/oauth/authorize", signIn, headers)).status).toBe(400);
    }
    expect(await story.gateway.database.db.selectFrom("oauth_grant").select("id").execute()).toEqual(before);
    expect((await story.post("/oauth/consent", fields, { origin: PUBLIC_URL })).status).toBe(303);
  });

  test("refuse a missing, a forged and an old ticket", async () => {
    const { html } = await openConsent();
    const { ticket = "" } = hiddenFields(html);
    const fields = { [`instance.${shop.id}`]: "on", "scope.read": "on", decision: "allow" };
    const [head, body, mac] = ticket.split(".");
    const other = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    const before = await grants();
    for (const forged of [
      "",
      "x",
      "y".repeat(20_000),
      `${head}.${body}.`,
      `${other}.${body}.`,
      `${head}.${mac}.${mac}`,
    ])
      expect((await story.post("/oauth/consent", { ...fields, ticket: forged })).status).toBe(400);
    expect(await grants()).toBe(before);
    expect((await story.post("/oauth/consent", { ...fields, ticket })).status).toBe(303);
  });

  test("give one result for a ticket: a code, or a refusal", async () => {
    const choice = { [`instance.${shop.id}`]: "on", "scope.read": "on" };
    for (const first of ["allow", "deny"]) {
      const { ticket = "" } = hiddenFields((await openConsent()).html);
      const decide = async (decision: string) =>
        (await story.post("/oauth/consent", { ...choice, ticket, decision })).status;
      const both = await Promise.all([decide(first), decide("allow")]);
      expect(both.sort()).toEqual([303, 400]);
    }
  });

  test("say on the consent page when the access ends", async () => {
    expect((await openConsent()).html).toContain("ask you again after 90 days");
  });

  test("accept only instances of the user's own account, and at least one of each choice", async () => {
    const { data } = await story.gateway.owner.createAccount({
      name: "Foreign",
      email: "boss@foreign.example",
      password: OWNER.password,
      must_change_password: false,
    });
    expect(data.id).toBeGreaterThan(1);
    const { html } = await open();
    const signedIn = await story.post("/oauth/authorize", {
      ...hiddenFields(html),
      email: "boss@foreign.example",
      password: OWNER.password,
    });
    const page = await signedIn.text();
    expect(page).not.toContain("Shop");
    const fields = {
      ...hiddenFields(page),
      [`instance.${shop.id}`]: "on",
      "scope.read": "on",
      decision: "allow",
    };
    const refused = await story.post("/oauth/consent", fields);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("Choose at least one"),
    ]);
  });

  test("send the browser back with access_denied when the user does not allow it", async () => {
    const { url } = story.request(await story.register());
    const result = await story.consent(url, { instances: [], scopes: [], decision: "deny" });
    expect(Object.fromEntries(result.searchParams)).toEqual({
      error: "access_denied",
      state: "st1",
      iss: PUBLIC_URL,
    });
  });
});

describe("a registration", () => {
  const register = (body: string, type = "application/json") =>
    story.fetch("/oauth/register", { method: "POST", headers: { "content-type": type }, body });

  test.each<[string, unknown, string]>([
    [
      "another grant type",
      { redirect_uris: [REDIRECT_URI], grant_types: ["implicit"] },
      "invalid_client_metadata",
    ],
    ["a script as redirect address", { redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
    ["a program of the system", { redirect_uris: ["ms-msdt:/id%20x"] }, "invalid_redirect_uri"],
    ["a list", [], "invalid_request"],
  ])("with %s is refused", async (_, metadata, error) => {
    expect(await errorOf(await register(JSON.stringify(metadata)))).toEqual([400, error]);
  });

  test("that is too large, no JSON or a form gets an error of OAuth", async () => {
    const large = JSON.stringify({ redirect_uris: [REDIRECT_URI], more: "x".repeat(20_000) });
    expect(await errorOf(await register(large))).toEqual([413, "invalid_request"]);
    expect(await errorOf(await register("{"))).toEqual([400, "invalid_request"]);
    const form = await story.post("/oauth/register", { redirect_uris: REDIRECT_URI });
    expect(await errorOf(form)).toEqual([415, "invalid_request"]);
  });

  test("returns a public client, whatever kind of client was asked for", async () => {
    const metadata = { redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "client_secret_basic" };
    const response = await register(JSON.stringify(metadata));
    expect(response.status).toBe(201);
    const registered = (await response.json()) as object;
    expect(registered).toMatchObject({ token_endpoint_auth_method: "none", redirect_uris: [REDIRECT_URI] });
    expect(registered).not.toHaveProperty("client_secret");
  });

  test("takes the place of an unused one of the network with most of them", async () => {
    const { db, pool } = story.gateway.database;
    const { client_id: used } = await connect();
    await pool.query(
      `insert into oauth_client (id, name, redirect_uris, network)
       select 'filler ' || n, 'Filler', '{}', '198.51.100.0/24' from generate_series(1, 5000) n`,
    );
    // Older than all of the fillers, but of a network with few clients.
    const quiet = await story.register();
    await db
      .updateTable("oauth_client")
      .set({ created_at: new Date(0) })
      .where("id", "=", quiet)
      .execute();
    const count = async () => {
      const { rows } = await pool.query("select count(*)::int as count from oauth_client");
      return rows[0].count as number;
    };
    const before = await count();
    const fresh = await story.register();
    expect(await count()).toBe(before);
    const ids = (await db.selectFrom("oauth_client").select("id").execute()).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([used, quiet, fresh]));
    await db.deleteFrom("oauth_client").where("name", "=", "Filler").execute();
  });
});

test("no OAuth route fails or sends the browser away, whatever strangers send to it", async () => {
  const { fields } = asking;
  const names = [...Object.keys(fields), "ticket", "email", "account_id", "code", "token", "grant_type"];
  const values = [
    ...HOSTILE_TEXTS,
    "http://localhost:99999/cb",
    "ms-msdt:/id",
    "https://[",
    "x".repeat(20_000),
  ];
  const send = ([method = "", path = ""]: string[], name: string, value: string) => {
    const form = new URLSearchParams({ ...fields, [name]: value, [value.slice(0, 50)]: name });
    if (method === "GET") return story.fetch(`${path}?${form}`);
    if (path !== "/oauth/register") return story.fetch(path, { method, body: form });
    const body = JSON.stringify({ client_name: value, redirect_uris: [value], [name]: { [value]: [value] } });
    return story.fetch(path, { method, headers: { "content-type": "application/json" }, body });
  };
  const faults: string[] = [];
  for (const [nth, value] of values.entries()) {
    const name = names[nth % names.length] ?? "";
    const sending = Object.values(oauthWireContract).map(async ({ http }) => {
      const response = await send(http.split(" "), name, value);
      const text = await response.text();
      const isGood = response.status < 500 && response.status !== 303 && !/node_modules|\.ts:\d/.test(text);
      if (!isGood) faults.push(`${http} ${name} ${value.slice(0, 100)}: ${response.status} ${text}`);
    });
    await Promise.all(sending);
  }
  expect(faults).toEqual([]);
});

describe("a form", () => {
  test("is refused by routes that take JSON, and above its limits by those that take forms", async () => {
    const login = await story.post("/api/auth/login", OWNER);
    expect(login.status).toBe(415);
    const large = await story.post("/oauth/token", { code: "x".repeat(70_000) });
    expect(await errorOf(large)).toEqual([413, "invalid_request"]);
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`a${index}`, ""]));
    expect(await errorOf(await story.post("/oauth/token", many))).toEqual([400, "invalid_request"]);
    const twice = await story.fetch("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "grant_type=a&grant_type=b",
    });
    expect(await errorOf(twice)).toEqual([400, "invalid_request"]);
  });
});
