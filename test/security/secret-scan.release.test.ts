import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Client, createClient } from "../../src/client/client.ts";
import { createE2eStory, type E2eStory } from "../e2e/e2e-story.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { startFakeChatwoot } from "../servers/fake-chatwoot.ts";
import { isFullRun, printFigures } from "./run-size.ts";

interface SecretScanFigures {
  secrets: number;
  /** Searched characters by kind of place. */
  searched: Record<string, number>;
  /** `place: name of the secret` for each secret found in plain text or encoded. */
  finds: string[];
}

/** Credentials of a user, by name. */
type Secrets = Record<string, string>;

/** Nothing listens there. */
const NOBODY = "127.0.0.1:1";

/**
 * Uses every kind of secret in a gateway, correctly and wrongly. Then searches all output: log, rows, files with
 * backups, and metrics.
 */
async function scanForSecrets({ rounds }: { rounds: number }): Promise<SecretScanFigures> {
  const secrets: Secrets = {
    "admin token": newSecret("admin"),
    "metrics token": newSecret("metrics"),
    "backup key": newSecret("backup"),
  };
  const story = await createE2eStory({
    WAYGATE_LOG_LEVEL: "trace",
    WAYGATE_SANDBOX: "on",
    WAYGATE_ADMIN_TOKEN: secrets["admin token"] ?? "",
    WAYGATE_METRICS_TOKEN: secrets["metrics token"] ?? "",
    WAYGATE_BACKUP_KEY: secrets["backup key"] ?? "",
    WAYGATE_OWNER_PASSWORD: newSecret("owner"),
  });
  secrets["secret key"] = story.settings.WAYGATE_SECRET_KEY ?? "";
  secrets["owner's password"] = story.settings.WAYGATE_OWNER_PASSWORD ?? "";
  try {
    const { url } = await story.start();
    for (let round = 0; round < rounds; round++) await useSecrets(story, secrets, round);
    // Last, because many failed sign-ins delay the next correct one.
    await refuseAll(url, secrets);
    await createClient({ baseUrl: url, adminToken: secrets["admin token"] }).createBackup({});
    const metrics = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${secrets["metrics token"]}` },
    });
    if (!metrics.ok) throw new Error(`/metrics answered ${metrics.status}`);
    const places: Record<string, string> = { metrics: await metrics.text(), log: story.gateway.output() };
    Object.assign(places, await readTables(story), await readFiles(story.settings.WAYGATE_DATA_DIR ?? ""));
    return { secrets: Object.keys(secrets).length, ...searchPlaces(places, secrets) };
  } finally {
    await story.end();
  }
}

function newSecret(name: string): string {
  return `${name}${randomBytes(24).toString("hex")}`;
}

/** Creates, uses, misuses, changes and removes each secret. */
async function useSecrets(story: E2eStory, secrets: Secrets, round: number): Promise<void> {
  const remember = (name: string, value = newSecret("x")): string => {
    secrets[`${name} ${round}`] = value;
    return value;
  };
  const { url } = story.gateway;
  const password = story.settings.WAYGATE_OWNER_PASSWORD ?? "";
  const signIn = createClient({ baseUrl: url });
  const { token } = await signIn.login({ email: "owner@example.com", password });
  const owner = createClient({ baseUrl: url, token: remember("sign-in token", token) });
  remember("signature of the sign-in token", token.split(".")[2]);
  await useUsers(owner, signIn, remember);
  const { data } = await owner.createInstance({
    name: "Sales",
    network: "sandbox",
    webhook_url: story.receiver.url,
  });
  const { id } = data;
  remember("default webhook's secret", data.webhook_secret);
  story.receiver.trust(data.webhook_secret);
  const client = createClient({ baseUrl: url, apiKey: remember("API key", data.api_key) });
  await useWebhooks(story, client, id, remember);
  await useIntegrations(client, id, remember);
  await useProxy(owner, remember);
  await client.sandboxScan({ id });
  await waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
  await client.sendText({ id, number: "5511987651234", text: "Hello" });
  await client.sandboxReceive({ id, from: "5511987651234", text: "Hello" });
  await waitUntil(() => story.receiver.of("message.received").length > 0);
  remember("API key after a change", (await client.regenerateApiKey({ id })).data.api_key);
}

type Remember = (name: string, value?: string) => string;

async function useUsers(owner: Client, anonymous: Client, remember: Remember): Promise<void> {
  const email = `${newSecret("agent")}@example.com`;
  await owner.createUser({ name: "Agent", email, password: remember("agent's password") });
  const wrong = { email, password: remember("wrong password") };
  await anonymous.login(wrong).catch(() => {});
}

async function useWebhooks(story: E2eStory, client: Client, id: number, remember: Remember): Promise<void> {
  const hook = {
    id,
    name: "Shop",
    headers: { authorization: `Bearer ${remember("webhook header")}` },
    format: "evolution" as const,
    format_token: remember("format token"),
  };
  for (const url of [`${story.receiver.url}/shop`, `http://${NOBODY}/shop`]) {
    const secret = `whsec_${randomBytes(24).toString("base64")}`;
    story.receiver.trust(secret);
    const { data } = await client.createWebhook({
      ...hook,
      url,
      secret: remember(`secret to ${url}`, secret),
    });
    // One of the two receivers does not exist.
    await client.testWebhook({ id, webhookId: data.id }).catch(() => {});
    const rotated = await client.updateWebhook({ id, webhookId: data.id, rotate_secret: true });
    const changed = String(rotated.data.secret);
    story.receiver.trust(remember(`new secret to ${url}`, changed));
    await client.testWebhook({ id, webhookId: data.id }).catch(() => {});
  }
}

async function useIntegrations(client: Client, id: number, remember: Remember): Promise<void> {
  const n8n = { webhook_url: `http://${NOBODY}/n8n`, token: remember("n8n token") };
  await client.saveIntegration({ id, provider: "n8n", config: n8n });
  await client.testIntegration({ id, provider: "n8n" }).catch(() => {});
  await client.deleteIntegration({ id, provider: "n8n" });
  const typebot = { base_url: `http://${NOBODY}`, public_id: "bot", api_token: remember("Typebot token") };
  await client.saveIntegration({ id, provider: "typebot", config: typebot }).catch(() => {});
  await client.testIntegration({ id, provider: "typebot" }).catch(() => {});
  await client.deleteIntegration({ id, provider: "typebot" }).catch(() => {});
  const chatwoot = await startFakeChatwoot();
  try {
    const { account_id, inbox } = chatwoot;
    const config = {
      url: chatwoot.url,
      access_token: remember("Chatwoot token", chatwoot.token),
      account_id,
    };
    await client.saveIntegration({ id, provider: "chatwoot", config: { ...config, inbox_id: inbox.id } });
    await client.testIntegration({ id, provider: "chatwoot" }).catch(() => {});
  } finally {
    await chatwoot.stop();
  }
}

async function useProxy(owner: Client, remember: Remember): Promise<void> {
  const proxy = { url: `http://user:${remember("proxy password")}@${NOBODY}` };
  const { data } = await owner.createInstance({ name: "Far", network: "whatsapp", proxy });
  await owner.connectInstance({ id: data.id }).catch(() => {});
}

/** Sends each secret as a credential of the wrong kind, in every header that accepts one, and in other places. */
async function refuseAll(url: string, secrets: Secrets): Promise<void> {
  for (const secret of Object.values(secrets)) {
    const headers: Record<string, string>[] = [
      { "x-api-key": secret },
      { authorization: `Bearer ${secret}` },
      { authorization: `Basic ${Buffer.from(`user:${secret}`).toString("base64")}` },
      { admintoken: secret },
      { "x-auth-token": secret },
      { cookie: `token=${secret}` },
    ];
    for (const one of headers) await fetch(`${url}/api/v1/messages`, { headers: one });
    await fetch(`${url}/api/v1/messages?token=${encodeURIComponent(secret)}`);
    await fetch(`${url}/${encodeURIComponent(secret)}`);
    const body = { email: "nobody@example.com", password: secret };
    const type = { "content-type": "application/json" };
    await fetch(`${url}/api/auth/login`, { method: "POST", headers: type, body: JSON.stringify(body) });
  }
}

async function readTables(story: E2eStory): Promise<Record<string, string>> {
  const tables = await story.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const places: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = await story.rows<{ row: string }>(`select t::text as row from ${name} t`);
    places[`table ${name}`] = rows.map(({ row }) => row).join("\n");
  }
  return places;
}

async function readFiles(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const places: Record<string, string> = {};
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    places[`file ${path.slice(directory.length)}`] = (await readFile(path)).toString("latin1");
  }
  return places;
}

/** Secrets found in texts, plain or in common encodings. */
function searchPlaces(places: Record<string, string>, secrets: Secrets): Omit<SecretScanFigures, "secrets"> {
  const searched: Record<string, number> = {};
  const finds: string[] = [];
  for (const [place, text] of Object.entries(places)) {
    const kind = place.split(" ")[0] ?? "";
    searched[kind] = (searched[kind] ?? 0) + text.length;
    for (const [name, secret] of Object.entries(secrets)) {
      if (spellingsOf(secret).some((one) => text.includes(one))) finds.push(`${place}: ${name}`);
    }
  }
  return { searched, finds };
}

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // In base64, preceding bytes shift the secret. Searches the stable part at each of the three offsets.
  const shifted = [0, 1, 2].map((by) =>
    Buffer.concat([Buffer.alloc(by), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), ...shifted];
}

beforeAll(buildDist);

test("No secret that a gateway uses is in its log, its tables, its files or its metrics", {
  timeout: 600_000,
}, async () => {
  const figures = await scanForSecrets({ rounds: isFullRun ? 3 : 1 });
  printFigures("Scan for secrets", figures);
  expect(figures.finds).toEqual([]);
  expect(figures.secrets).toBeGreaterThan(20);
  for (const kind of ["log", "table", "file", "metrics"]) {
    expect(figures.searched[kind], kind).toBeGreaterThan(1_000);
  }
});

test("The scan finds a secret in plain form, in a URL, in hex and in base64", () => {
  const secret = "s3cr3t/with+signs=and more of it";
  const basic = Buffer.from(`user:${secret}`).toString("base64");
  const places = {
    "log 1": `token ${secret}`,
    "log 2": `?token=${encodeURIComponent(secret)}`,
    "log 3": `\\x${Buffer.from(secret).toString("hex")}`,
    "log 4": `Basic ${basic}`,
    "log 5": "nothing",
  };
  expect(searchPlaces(places, { key: secret }).finds).toEqual([1, 2, 3, 4].map((nth) => `log ${nth}: key`));
});
