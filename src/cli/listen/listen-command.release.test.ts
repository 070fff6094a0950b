import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { buildDist } from "../../../test/run/build-dist.ts";
import { type CliProcess, startCli } from "../../../test/run/cli-process.ts";
import { startReceiver } from "../../../test/servers/receiver.ts";
import { ROOT } from "../../../test/source-files.ts";

const BIA = "5511977771234";

let gateway: TestGateway;
let shop: TestInstance;
let running: CliProcess[] = [];

beforeAll(buildDist);
beforeAll(async () => {
  gateway = await startTestGateway({
    WAYGATE_RETRY_SCHEDULE: "1s",
    WAYGATE_ALLOWED_HOSTS: "external,loopback",
  });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  shop = await gateway.connectInstance();
});
afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ exited }) => exited));
  running = [];
});

const keys = () => ({ WAYGATE_BASE_URL: gateway.url, WAYGATE_API_KEY: shop.api_key });

async function listen(args: string[] = [], env: Record<string, string> = keys()): Promise<CliProcess> {
  const started = startCli(["listen", ...args], env);
  running.push(started);
  await started.waitFor(/^Listening /m);
  return started;
}

async function stop(
  { child, exited }: CliProcess,
  signal: NodeJS.Signals = "SIGINT",
): Promise<number | null> {
  child.kill(signal);
  return (await exited).code;
}

const receive = (text: string) => shop.client.sandboxReceive({ id: shop.id, from: BIA, text });
const webhooks = async () => (await shop.client.listWebhooks({ id: shop.id })).data;

describe("waygate listen", () => {
  test("creates its webhook, prints a line per verified event, and removes the webhook at the end", async () => {
    const listening = await listen();
    expect(await webhooks()).toMatchObject([
      { name: expect.stringMatching(/^waygate listen \(/), is_active: true },
    ]);
    await receive("Is it open?");
    await listening.waitFor(/message\.received .*"Is it open\?"/);
    expect(listening.stdout()).toMatch(
      /^\d\d:\d\d:\d\d {2}message\.received {2}#\d+ {2}Sales {2}from 5511977771234 "Is it open\?"\n$/,
    );
    expect(listening.stderr()).toContain(`instance ${shop.id} (Sales, connected)`);
    expect(await stop(listening)).toBe(0);
    expect(await webhooks()).toEqual([]);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("removes its webhook at %s too", async (signal) => {
    expect(await stop(await listen(), signal)).toBe(0);
    expect(await webhooks()).toEqual([]);
  });

  test("receives only the events of its filter, and prints each as one line of JSON", async () => {
    const listening = await listen(["--json", "--events", "message.received"]);
    await shop.client.sendText({ id: shop.id, number: "5511999990004", text: "Hello" });
    await listening.waitFor(/echo: Hello/);
    const events = listening
      .stdout()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events).toMatchObject([{ event: "message.received", data: { message: { text: "echo: Hello" } } }]);
  });

  test("reports an unknown event by name, with the names that exist", async () => {
    const wrong = startCli(["listen", "--events", "message.lost"], keys());
    expect(await wrong.exited).toMatchObject({ code: 1 });
    expect(wrong.stderr()).toMatch(/^VALIDATION_ERROR: .*"message\.lost" is not the name of an event/);
    expect(await webhooks()).toEqual([]);
  });

  test("reports a wrong key, and a key whose instance must be named", async () => {
    const wrong = startCli(["listen"], { ...keys(), WAYGATE_API_KEY: "wg_wrong" });
    expect(await wrong.exited).toMatchObject({ code: 1 });
    expect(wrong.stderr()).toMatch(/^INVALID_API_KEY: /);
    await shop.client.regenerateApiKey({ id: shop.id, grace_seconds: 3_600 });
    const old = startCli(["listen"], keys());
    expect(await old.exited).toMatchObject({ code: 1 });
    expect(old.stderr()).toContain("Name it with --instance or WAYGATE_INSTANCE_ID");
    await stop(await listen(["--instance", String(shop.id)]));
  });

  test("ends quietly and removes its webhook when its output is closed", async () => {
    const program = join(ROOT, "dist/program/main.js");
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...keys() };
    const pipe = spawn("sh", ["-c", `"${process.execPath}" "${program}" listen | head -n 1`], { env });
    let said = "";
    pipe.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    let isOver = false;
    const closed = once(pipe, "close").then(() => {
      isOver = true;
    });
    await waitUntil(() => said.includes("Ctrl-C"));
    // The first line ends the reader, and a later one raises EPIPE in the writer.
    await waitUntil(async () => {
      if (!isOver) await receive("one more");
      return isOver;
    });
    await closed;
    expect(said).not.toMatch(/EPIPE|Error| {4}at /);
    await waitUntil(async () => (await webhooks()).length === 0);
  });
});

describe("waygate listen after a run that was killed", () => {
  test("removes the webhook that it left, and no other listener's", async () => {
    const killed = await listen();
    const alive = await listen();
    const [first, second] = (await webhooks()).map(({ id }) => id).sort((a, b) => a - b);
    killed.child.kill("SIGKILL");
    await killed.exited;
    const next = await listen();
    expect(next.stderr()).toContain("Removed 1 webhook(s) of earlier runs that were killed.");
    const left = (await webhooks()).map(({ id }) => id);
    expect(left).toHaveLength(2);
    expect(left).toContain(second);
    expect(left).not.toContain(first);
    await Promise.all([stop(alive), stop(next)]);
    expect(await webhooks()).toEqual([]);
  });

  test("leaves webhooks of other programs alone", async () => {
    const { data } = await shop.client.createWebhook({
      id: shop.id,
      url: "http://127.0.0.1:2/",
      name: "Shop",
    });
    await stop(await listen());
    expect((await webhooks()).map(({ id }) => id)).toEqual([data.id]);
  });
});

describe("waygate listen --forward", () => {
  /** A local program that fails at first. */
  async function startProgram() {
    const seen: { body: Buffer; attempt: string; signature: string }[] = [];
    const server = createServer(async (request, response) => {
      const { "x-waygate-attempt": attempt = "", "webhook-signature": signature = "" } = request.headers;
      seen.push({ body: await buffer(request), attempt: String(attempt), signature: String(signature) });
      response.writeHead(seen.length === 1 ? 503 : 200, { "content-type": "text/plain" });
      response.end(seen.length === 1 ? "not yet" : "thanks");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const close = () => new Promise((resolve) => server.close(resolve));
    return { seen, url: `http://127.0.0.1:${port}/hook`, close };
  }

  test("passes an event on, and the response of the program is the response to the gateway", async () => {
    const program = await startProgram();
    const listening = await listen(["--forward", program.url, "--events", "message.received"]);
    await receive("Forwarded");
    await listening.waitFor(/responded with 200/);
    await program.close();
    expect(listening.stderr()).toMatch(
      /-> http:\/\/127\.0\.0\.1:\d+\/hook responded with 503 in \d+ ms not yet/,
    );
    expect(listening.stdout()).toMatch(/"Forwarded" {2}\(attempt 2\) {2}\(again\)/);
    const [first, second] = program.seen;
    expect([first?.attempt, second?.attempt]).toEqual(["1", "2"]);
    expect(first?.body.equals(second?.body ?? Buffer.alloc(0))).toBe(true);
    expect(first?.signature).toMatch(/^v1,/);
    const { data: logs } = await shop.client.listDeliveryLogs({ id: shop.id, event: "message.received" });
    expect(logs.map(({ status_code, response_body }) => [status_code, response_body])).toEqual([
      [200, "thanks"],
      [503, "not yet"],
    ]);
    await stop(listening);
  });
});

describe("waygate listen with recorded events", () => {
  const eventsOf = (listening: CliProcess): string[] =>
    [...listening.stdout().matchAll(/"(past \d)"/g)].map(([, text = ""]) => text);

  test("replays those since a time only to itself, oldest first", async () => {
    const receiver = await startReceiver();
    const { data } = await shop.client.createWebhook({ id: shop.id, url: receiver.url });
    receiver.trust(data.secret);
    for (const text of ["past 1", "past 2", "past 3"]) await receive(text);
    await receiver.waitFor(({ body }) => body.event === "message.received", 3);
    const listening = await listen(["--since", "1h", "--events", "message.received"]);
    await listening.waitFor(/Replayed 3 of 3/);
    expect(eventsOf(listening)).toEqual(["past 1", "past 2", "past 3"]);
    expect(receiver.of("message.received")).toHaveLength(3);
    await stop(listening);
    await receiver.close();
  });

  test("replays single events by id or number, and reports one that does not exist", async () => {
    for (const text of ["past 1", "past 2", "past 3"]) await receive(text);
    const recorded = async () =>
      (await shop.client.listEvents({ id: shop.id, event: "message.received" })).data.toReversed();
    await waitUntil(async () => (await recorded()).length === 3);
    const [first, , third] = await recorded();
    const wanted = ["--replay", third?.event_id ?? "", "--replay", String(first?.id)];
    const listening = await listen(wanted);
    await listening.waitFor(/Replayed 2 of 2/);
    expect(eventsOf(listening)).toEqual(["past 3", "past 1"]);
    await stop(listening);
    const missing = startCli(["listen", "--replay", "evt_01JD0000000000000000000000"], keys());
    expect(await missing.exited).toMatchObject({ code: 1 });
    expect(missing.stderr()).toContain("NOT_FOUND: ");
    expect(await webhooks()).toEqual([]);
  });

  test("says when there is none", async () => {
    const listening = await listen(["--since", "0s"]);
    await listening.waitFor(/No event was recorded since then/);
    await stop(listening);
  });
});

describe("waygate listen with the secret of a webhook", () => {
  test("verifies and prints without a gateway, and creates nothing", async () => {
    const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const listening = await listen([], { WEBHOOK_SECRET: secret });
    const [, url = ""] = /^Listening at (http:\S+) /m.exec(listening.stderr()) ?? [];
    await shop.client.createWebhook({ id: shop.id, url, secret });
    await receive("By hand");
    await listening.waitFor(/"By hand"/);
    expect(await stop(listening)).toBe(0);
    expect(await webhooks()).toHaveLength(1);
  });
});

describe("waygate listen at an address that the gateway cannot use", () => {
  test("names the settings that open it if the policy of the gateway forbids it", async () => {
    const blocked = startCli(["listen", "--public-url", "http://10.1.2.3:8080/"], keys());
    expect(await blocked.exited).toMatchObject({ code: 1 });
    expect(blocked.stderr()).toContain("The gateway may not call http://10.1.2.3:8080/.");
    expect(blocked.stderr()).toContain("WAYGATE_ALLOWED_HOSTS=external,10.1.2.3:8080");
    expect(await webhooks()).toEqual([]);
  });

  test("says what to check if nothing listens there, and removes the webhook", async () => {
    const away = startCli(["listen", "--public-url", "http://127.0.0.1:2/"], keys());
    expect(await away.exited).toMatchObject({ code: 1 });
    expect(away.stderr()).toContain("The test event was not delivered. The connection was refused.");
    expect(away.stderr()).toContain("run in a container?");
    expect(await webhooks()).toEqual([]);
  });

  test("notices that another program responds there", async () => {
    const receiver = await startReceiver();
    const other = startCli(["listen", "--public-url", receiver.url], keys());
    expect(await other.exited).toMatchObject({ code: 1 });
    expect(other.stderr()).toContain(`The gateway reached another program at ${receiver.url}, not this one.`);
    expect(await webhooks()).toEqual([]);
    await receiver.close();
  });
});
