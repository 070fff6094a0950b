import {
  Client as McpClient,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TestInstance } from "../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { askTool as ask } from "../../../test/stories/mcp-clients.ts";
import {
  type OAuthStory,
  PUBLIC_URL,
  REDIRECT_URI,
  RESOURCE,
  startOAuthStory,
} from "../../../test/stories/oauth-story.ts";

const ANA = "5511988887777";

let story: OAuthStory;
let shop: TestInstance;
let other: TestInstance;
let secret: TestInstance;
const open: McpClient[] = [];

beforeAll(async () => {
  story = await startOAuthStory();
  shop = await story.gateway.connectInstance({ name: "Shop" });
  other = await story.gateway.connectInstance({ name: "Other" });
  secret = await story.gateway.connectInstance({ name: "Secret" });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => story.stop());

type StoredClient = Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
type StoredTokens = Awaited<ReturnType<OAuthClientProvider["tokens"]>>;

/** An assistant's storage, and the page that it opens in the browser. */
class AssistantStore implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URI;
  readonly clientMetadata = { client_name: "Claude", redirect_uris: [REDIRECT_URI] };
  opened: URL | undefined;
  #client: StoredClient;
  #tokens: StoredTokens;
  #verifier = "";

  state = () => "a state";
  clientInformation = () => this.#client;
  saveClientInformation = (client: StoredClient) => {
    this.#client = client;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: StoredTokens) => {
    this.#tokens = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.opened = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

function newTransport(authProvider: AssistantStore): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(RESOURCE), { authProvider, fetch: story.fetch });
}

async function connect(authProvider: AssistantStore): Promise<McpClient> {
  const client = new McpClient({ name: "test", version: "1" });
  await client.connect(newTransport(authProvider));
  open.push(client);
  return client;
}

/** The official client connects, its user consents, and it connects again. */
async function connectWithConsent(
  store: AssistantStore,
  instances: TestInstance[],
  scopes: ("read" | "send" | "groups")[],
): Promise<McpClient> {
  await expect(connect(store)).rejects.toThrow(UnauthorizedError);
  const url = store.opened as URL;
  const result = await story.consent(url, { instances: instances.map(({ id }) => id), scopes });
  expect([result.searchParams.get("state"), result.searchParams.get("iss")]).toEqual(["a state", PUBLIC_URL]);
  await newTransport(store).finishAuth(result.searchParams);
  return connect(store);
}

const names = async (client: McpClient) => (await client.listTools()).tools.map(({ name }) => name);

describe("the official MCP client without a credential", () => {
  test("registers, opens the consent page, and then reads and sends through the allowed instance", async () => {
    const store = new AssistantStore();
    const client = await connectWithConsent(store, [shop], ["read", "send"]);
    expect(store.opened?.searchParams.get("scope")).toBe("read send groups");
    const text = "Through OAuth";
    const sent = await ask(client, "send_message", { number: ANA, text });
    expect([sent.isError, sent.result.data.status]).toEqual([false, "sent"]);
    const read = await ask(client, "get_messages", { limit: 1 });
    expect(read.result.data).toMatchObject([{ text, instance_id: shop.id }]);
    expect((await ask(client, "get_instances")).result.data.map(({ id }: { id: number }) => id)).toEqual([
      shop.id,
    ]);
    const resource = await client.readResource({ uri: "waygate://conversations" });
    expect(JSON.stringify(resource)).toContain("Through OAuth");
  });

  test("gets no tools that the user has not allowed, and learns which scope is missing", async () => {
    const client = await connectWithConsent(new AssistantStore(), [shop], ["read"]);
    expect(await names(client)).toContain("get_messages");
    expect(await names(client)).not.toContain("send_message");
    const { access_token } = await story.connect({ instances: [shop.id], scopes: ["read"] });
    const call = { name: "create_group", arguments: { name: "A", participants: [ANA] } };
    const response = await story.askMcp(access_token, "tools/call", call);
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toBe(
      `Bearer error="insufficient_scope", scope="read groups", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"`,
    );
  });

  test("may only send, if the user has allowed nothing else", async () => {
    const client = await connectWithConsent(new AssistantStore(), [shop], ["send"]);
    const tools = await names(client);
    expect(tools).toContain("get_instances");
    expect(tools).not.toContain("get_messages");
    expect((await client.listResources()).resources).toEqual([]);
    const { isError } = await ask(client, "send_message", { number: ANA, text: "Only this" });
    expect(isError).toBe(false);
  });

  test("names one of several allowed instances, and reaches no other", async () => {
    const client = await connectWithConsent(new AssistantStore(), [shop, other], ["read", "send"]);
    const unnamed = await ask(client, "send_message", { number: ANA, text: "From whom?" });
    expect(unnamed).toMatchObject({ isError: true, result: { code: "VALIDATION_ERROR" } });
    expect(unnamed.result.message).toContain("get_instances lists them");
    const named = await ask(client, "send_message", { number: ANA, text: "Hi", instanceId: other.id });
    expect(named.isError).toBe(false);
    for (const name of ["get_instance_status", "get_messages", "get_conversations", "get_contacts"]) {
      const foreign = await ask(client, name, { instanceId: secret.id });
      expect([name, foreign.isError]).toEqual([name, true]);
    }
    await story.gateway.owner.sendText({ id: secret.id, number: ANA, text: "Top secret" });
    const all = await ask(client, "get_messages", {});
    expect(JSON.stringify(all.result)).not.toContain("Top secret");
    const seen = new Set(all.result.data.map(({ instance_id }: { instance_id: number }) => instance_id));
    expect([...seen].every((id) => id === shop.id || id === other.id)).toBe(true);
  });

  test("gets new tokens by itself when the old ones have expired", async () => {
    const store = new AssistantStore();
    const client = await connectWithConsent(store, [shop], ["read"]);
    const before = store.tokens()?.access_token;
    await story.gateway.database.db
      .updateTable("oauth_token")
      .set({ expires_at: new Date(0) })
      .where("kind", "=", "access")
      .execute();
    expect(await names(client)).toContain("get_messages");
    expect(store.tokens()?.access_token).not.toBe(before);
  });
});

describe("the metadata documents", () => {
  const read = async (path: string) => (await (await story.fetch(path)).json()) as Record<string, string>;

  test("lead from a refusal of /mcp to every endpoint", async () => {
    const refused = await story.listTools("");
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get("www-authenticate") ?? "";
    const [, url = ""] = /^Bearer resource_metadata="([^"]+)"$/.exec(challenge) ?? [];
    const resource = await read(url);
    expect(resource).toMatchObject({ resource: RESOURCE, authorization_servers: [PUBLIC_URL] });
    expect(await read("/.well-known/oauth-protected-resource")).toEqual(resource);
    const server = await read("/.well-known/oauth-authorization-server");
    expect(server).toMatchObject({
      issuer: PUBLIC_URL,
      code_challenge_methods_supported: ["S256"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
    for (const [name, address] of Object.entries<string>(server)) {
      if (!name.endsWith("_endpoint")) continue;
      // An unknown route returns 404, and a wrong method 405.
      const method = name === "authorization_endpoint" ? "GET" : "POST";
      expect([name, (await story.fetch(address, { method })).status]).toEqual([name, 400]);
    }
  });
});

describe("connected assistants", () => {
  const listOf = async () => (await story.gateway.owner.listAssistants({})).data;

  test("are listed with what they may do, and stop at once when they are disconnected", async () => {
    const { access_token, refresh_token, client_id } = await story.connect({
      instances: [shop.id],
      scopes: ["read"],
    });
    expect((await story.listTools(access_token)).status).toBe(200);
    const [newest] = await listOf();
    expect(newest).toMatchObject({
      client_name: "Claude",
      client_id,
      redirect_host: "assistant.example",
      instance_ids: [shop.id],
      scopes: ["read"],
      last_used_at: expect.any(String),
      expires_at: expect.any(String),
    });
    const id = newest?.id ?? 0;
    await story.gateway.owner.disconnectAssistant({ id });
    expect((await story.listTools(access_token)).status).toBe(401);
    const fields = { grant_type: "refresh_token", client_id, refresh_token };
    expect(await (await story.post("/oauth/token", fields)).json()).toMatchObject({ error: "invalid_grant" });
    expect((await listOf()).map((one) => one.id)).not.toContain(id);
    const { rows } = await story.gateway.database.pool.query(
      "select action, actor, credential_id from audit where target_type = 'assistant' and target_id = $1 order by id",
      [String(id)],
    );
    expect(rows).toMatchObject([
      { action: "assistant.grant", actor: "user", credential_id: `assistant ${id}` },
      { action: "assistant.revoke", actor: "user" },
    ]);
  });

  test("are absent from the list until the client has fetched its tokens", async () => {
    const before = await listOf();
    const { url } = story.request(await story.register());
    await story.consent(url, { instances: [shop.id], scopes: ["read"] });
    expect(await listOf()).toEqual(before);
  });

  test("of other users are hidden from an agent, who can disconnect only the own ones", async () => {
    const email = "agent@example.com";
    await story.gateway.owner.createUser({
      name: "Agent",
      email,
      password: PASSWORD,
      must_change_password: false,
    });
    const { client } = await signIn(story.gateway.url, { email });
    await story.connect({ instances: [shop.id], scopes: ["read"] });
    await story.connect({ email, password: PASSWORD, instances: [shop.id], scopes: ["send"] });
    const { data } = await client.listAssistants({});
    expect(data.map(({ user, scopes }) => [user.name, scopes])).toEqual([["Agent", ["send"]]]);
    const found = (await story.gateway.owner.listAssistants({ q: "AGEN" })).data;
    expect(found.map(({ user }) => user.name)).toEqual(["Agent"]);
    const foreign = (await listOf()).find(({ user }) => user.name !== "Agent");
    await expect(client.disconnectAssistant({ id: foreign?.id ?? 0 })).rejects.toMatchObject({ status: 404 });
    expect((await client.disconnectAssistant({ id: data[0]?.id ?? 0 })).data).toEqual({ id: data[0]?.id });
  });

  test("of an agent reach no instance that the agent may not use, also after its list has become shorter", async () => {
    const { owner, url } = story.gateway;
    const login = { email: "branch@example.com", password: PASSWORD };
    const instance_ids = [shop.id, other.id];
    const agent = { name: "Branch", ...login, must_change_password: false, instance_ids };
    const { id } = (await owner.createUser(agent)).data;
    const { client } = await signIn(url, login);
    const { access_token } = await story.connect({
      ...login,
      instances: [shop.id, other.id, secret.id],
      scopes: ["read"],
    });
    const reached = async () => {
      const response = await story.askMcp(access_token, "tools/call", { name: "get_instances" });
      const shown = await response.text();
      const listed = (await client.listAssistants({})).data[0]?.instance_ids;
      return { listed, named: ["Shop", "Other", "Secret"].filter((name) => shown.includes(name)) };
    };
    expect(await reached()).toEqual({ listed: [shop.id, other.id], named: ["Shop", "Other"] });
    await owner.updateUser({ id, instance_ids: [other.id] });
    expect(await reached()).toEqual({ listed: [other.id], named: ["Other"] });
    await owner.updateUser({ id, instance_ids: [] });
    expect((await story.listTools(access_token)).status).toBe(401);
  });

  test("lose access with their instance, their user, the user's role or password, and the account", async () => {
    const { owner } = story.gateway;
    const status = async (token: string) => (await story.listTools(token)).status;
    const account = await owner.createAccount({
      name: "Tenant",
      email: "boss@tenant.example",
      password: PASSWORD,
      must_change_password: false,
    });
    const boss = (await signIn(story.gateway.url, { email: "boss@tenant.example" })).client;
    const instance = (await boss.createInstance({ name: "One" })).data;
    const spare = (await boss.createInstance({ name: "Two" })).data;
    const connectAs = async (email: string, id = spare.id) =>
      (await story.connect({ email, password: PASSWORD, instances: [id], scopes: ["read"] })).access_token;
    const users = await Promise.all(
      ["a", "b", "c"].map((name) => {
        const email = `${name}@tenant.example`;
        return boss.createUser({
          name,
          email,
          password: PASSWORD,
          role: "admin",
          must_change_password: false,
        });
      }),
    );
    const [removed, demoted, renewed] = users.map(({ data }) => data.id);
    const ofInstance = await connectAs("boss@tenant.example", instance.id);
    const ofBoss = await connectAs("boss@tenant.example");
    const ofUsers = [];
    for (const name of ["a", "b", "c"]) ofUsers.push(await connectAs(`${name}@tenant.example`));
    for (const token of [ofInstance, ofBoss, ...ofUsers]) expect(await status(token)).toBe(200);
    await boss.deleteInstance({ id: instance.id });
    expect(await status(ofInstance)).toBe(401);
    await boss.deleteUser({ id: removed ?? 0 });
    await boss.updateUser({ id: demoted ?? 0, role: "agent" });
    await boss.updateUser({ id: renewed ?? 0, password: `${PASSWORD} anew` });
    for (const token of ofUsers) expect(await status(token)).toBe(401);
    expect(await status(ofBoss)).toBe(200);
    await owner.changeAccount({ id: account.data.id, status: "paused" });
    expect(await status(ofBoss)).toBe(403);
    await owner.changeAccount({ id: account.data.id, status: "active" });
    expect(await status(ofBoss)).toBe(200);
    await boss.changePassword({ current_password: PASSWORD, new_password: `${PASSWORD} anew` });
    expect(await status(ofBoss)).toBe(401);
  });

  test("are deleted some time after their last token has expired, with unused clients", async () => {
    const { db } = story.gateway.database;
    const { deleteExpiredGrants } = await import("./delete-expired-grants.ts");
    const kept = await story.connect({ instances: [shop.id], scopes: ["read"] });
    const ended = await story.connect({ instances: [shop.id], scopes: ["read"] });
    const unused = await story.register();
    const long = new Date(0);
    const grantOf = (client_id: string) =>
      db.selectFrom("oauth_grant").select("id").where("client_id", "=", client_id);
    const expire = db.updateTable("oauth_token").set({ expires_at: long });
    await expire.where("grant_id", "in", grantOf(ended.client_id)).execute();
    await db.updateTable("oauth_grant").set({ created_at: long }).execute();
    await db.updateTable("oauth_client").set({ created_at: long }).where("id", "=", unused).execute();
    await deleteExpiredGrants(db);
    expect(await grantOf(ended.client_id).execute()).toEqual([]);
    expect((await story.listTools(kept.access_token)).status).toBe(200);
    const clients = (await db.selectFrom("oauth_client").select("id").execute()).map(({ id }) => id);
    expect(clients).toContain(kept.client_id);
    expect(clients).not.toContain(unused);
  });
});
