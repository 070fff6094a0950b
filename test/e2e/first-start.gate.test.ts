import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, WaygateError } from "../../src/client/client.ts";
import { findRunningDatabase } from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { findPostgresHome } from "../../src/platform/embedded-postgres/postgres-home.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { needs } from "../run/programs.ts";
import { makeScratchDir, type ScratchDir } from "../run/scratch-dir.ts";
import { launchGateway, type SpawnedGateway, spawnGateway } from "../run/spawn-gateway.ts";
import { startReceiver } from "../servers/receiver.ts";
import { postmasterOf, query } from "../stories/engine/postgres-story.ts";

beforeAll(buildDist);

const run = promisify(execFile);

describe("a gateway that starts for the first time without settings, in a terminal", () => {
  let data: ScratchDir;
  let gateway: SpawnedGateway;

  const start = async (): Promise<void> => {
    // Nothing listens there: no test may reach the real network.
    const WAYGATE_WHATSAPP_URL = "ws://127.0.0.1:1/";
    const settings = { WAYGATE_DATA_DIR: data.path, WAYGATE_PORT: "0", WAYGATE_WHATSAPP_URL };
    gateway = await spawnGateway(settings, { isTerminal: true });
  };

  beforeAll(async () => {
    data = await makeScratchDir("waygate-e2e-");
    await start();
  }, 180_000);
  afterAll(async () => {
    await gateway.kill("SIGINT");
    await data.remove();
  });

  const printed = (what: RegExp): string => gateway.output().match(what)?.[1] ?? "";
  const curlLines = () => gateway.output().match(/^(MADE=|curl) ?.*$/gm) ?? [];

  test("prints where it listens, which database it uses, and where it may send requests", () => {
    expect(gateway.output()).toContain(`Waygate listens on ${gateway.url} (reference: ${gateway.url}/docs).`);
    expect(gateway.output()).toContain(`Database: its own PostgreSQL below ${data.path}.`);
    expect(gateway.output()).toContain(
      "Outgoing requests: external, and this machine while the owner's account is the only one (WAYGATE_LOCAL_TARGETS).",
    );
  });

  const signIn = () => {
    const email = printed(/^Owner's sign-in: (\S+)$/m);
    const password = printed(/^Password: +(\S+) .*shown this once/m);
    return createClient({ baseUrl: gateway.url }).login({ email, password });
  };

  test("lets the owner sign in with the password that it has printed", async () => {
    const { data: signedIn } = await signIn();
    expect(signedIn.account.account_type).toBe("owner");
  });

  test("reaches its database over a Unix socket alone, and sends no request to its TCP port", async () => {
    const database = (await findRunningDatabase(data.path)) ?? "";
    const connections = await query(
      database,
      `select distinct client_addr from pg_stat_activity where application_name like 'waygate%'`,
    );
    expect(connections).toEqual([{ client_addr: null }]);
    const { token } = (await signIn()).data;
    const owner = createClient({ baseUrl: gateway.url, token });
    const { data: made } = await owner.createInstance({ name: "Ports", network: "sandbox" });
    const client = createClient({ baseUrl: gateway.url, apiKey: made.api_key });
    const save = (port: number) =>
      client.createWebhook({ id: made.id, url: `http://127.0.0.1:${port}/`, events: ["message.received"] });
    const port = Number(new URL(database).port);
    await save(port - 1);
    await expect(save(port)).rejects.toMatchObject({ status: 400 });
  });

  test("refuses requests with 503 alone while its killed PostgreSQL restarts, and then serves again", async ({
    signal,
  }) => {
    const { token } = (await signIn()).data;
    const owner = createClient({ baseUrl: gateway.url, token });
    const { path } = await findPostgresHome(data.path);
    const killed = await postmasterOf(path);
    process.kill(killed, "SIGKILL");
    const refusals = new Set<number>();
    const isServed = () =>
      owner.listInstances({}).then(
        () => true,
        (error: unknown) => {
          refusals.add(error instanceof WaygateError ? error.status : 0);
          return false;
        },
      );
    const isBack = async () => (await postmasterOf(path).catch(() => killed)) !== killed;
    while (!signal.aborted && !((await isServed()) && (await isBack())));
    refusals.delete(503);
    expect([...refusals]).toEqual([]);
  });

  test(
    "prints three lines that create, pair and use an instance when pasted into a shell",
    needs("curl"),
    async () => {
      expect(curlLines()).toHaveLength(3);
      const home = await mkdtemp(join(tmpdir(), "waygate-paste-"));
      const pasted = `${curlLines().join("\n")}\n`;
      const { stdout, stderr } = await run("sh", ["-c", pasted], { cwd: home }).finally(() =>
        rm(home, { recursive: true }),
      );
      const responses = stdout.trim().split("\n");
      expect(stderr).toBe("");
      expect(responses.map((response) => JSON.parse(response))).toMatchObject([
        { success: true, data: { name: "Sales" } },
        { success: true, data: { phone: expect.stringMatching(/^\d+$/) } },
        { success: true, data: { status: expect.stringMatching(/^(sent|delivered|read)$/) } },
        { success: true, data: [{ text: "echo: Hello", from_me: false }] },
      ]);
    },
  );

  test("keeps all data over a kill -9, and does not show the password again", {
    timeout: 180_000,
    ...needs("curl"),
  }, async () => {
    const [create = ""] = curlLines();
    const { stdout } = await run("sh", ["-c", `${create}; echo; echo $ID $KEY`]);
    const [id = "", apiKey = ""] = (stdout.trim().split("\n").at(-1) ?? "").split(" ");
    const { data: paired } = await createClient({ baseUrl: gateway.url, apiKey }).sandboxScan({
      id: Number(id),
    });
    await gateway.kill();
    await start();
    const client = createClient({ baseUrl: gateway.url, apiKey });
    await waitUntil(async () => (await client.getInstanceStatus({ id: Number(id) })).data.connected);
    expect((await client.getInstanceStatus({ id: Number(id) })).data.phone).toBe(paired.phone);
    expect(gateway.output()).not.toMatch(/Password: /);
    expect(curlLines()).toEqual([]);
    const receiver = await startReceiver();
    await client.createWebhook({ id: Number(id), url: receiver.url, events: ["message.received"] });
    await client.sendText({ id: Number(id), number: "5511999990004", text: "still here?" });
    const [echo] = await receiver.waitFor(({ body }) => body.event === "message.received");
    await receiver.close();
    expect(echo?.body.data.message.text).toBe("echo: still here?");
  });
});

describe("a first start that fails", () => {
  test("keeps the password unused: the next start in a terminal prints it, and it opens the gateway", {
    timeout: 300_000,
  }, async () => {
    const data = await makeScratchDir("waygate-e2e-");
    const receiver = await startReceiver();
    const settings = { WAYGATE_DATA_DIR: data.path, WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/" };
    const failed = launchGateway({ ...settings, WAYGATE_PORT: new URL(receiver.url).port });
    expect((await failed.exited).code).toBe(1);
    expect(failed.output()).toMatch(/^Port \d+ on 127\.0\.0\.1 is in use/m);
    await receiver.close();
    const wrong = { WAYGATE_OWNER_EMAIL: "me", WAYGATE_OWNER_PASSWORD: "123", WAYGATE_PORT: "x" };
    const refused = launchGateway({ ...settings, ...wrong });
    await refused.exited;
    for (const name of Object.keys(wrong))
      expect(refused.output()).toMatch(new RegExp(`^ {2}- ${name} `, "m"));
    expect(refused.output()).toContain("WAYGATE_OWNER_PASSWORD must have at least 12 characters");
    const gateway = await spawnGateway({ ...settings, WAYGATE_PORT: "0" }, { isTerminal: true });
    const [, email = "", password = ""] =
      /^Owner's sign-in: (\S+)\nPassword: +(\S+) /m.exec(gateway.output()) ?? [];
    const { data: signedIn } = await createClient({ baseUrl: gateway.url }).login({ email, password });
    expect(signedIn.account.account_type).toBe("owner");
    await gateway.kill("SIGINT");
    const changed = { WAYGATE_OWNER_PASSWORD: "another horse battery staple", WAYGATE_PORT: "0" };
    const later = await spawnGateway({ ...settings, ...changed });
    await waitUntil(() =>
      later.output().includes("WAYGATE_OWNER_PASSWORD is not the password of owner@localhost."),
    );
    await later.kill("SIGINT");
    await data.remove();
  });
});
