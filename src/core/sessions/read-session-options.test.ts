import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { type Config, readConfig } from "../../platform/config/config.ts";
import { createSafeFetch, type SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import { createSecretBox, encryptionContextOf } from "../../platform/secrets/secret-box.ts";
import type { ConnectionEvent } from "./connection/find-status-transition.ts";
import { openSession } from "./open-session.ts";
import { readSessionOptions } from "./read-session-options.ts";

const WAYGATE_SECRET_KEY = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";
const box = createSecretBox(WAYGATE_SECRET_KEY);

let gateway: TestGateway;
let instance: TestInstance;
let outgoing: SafeFetch;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_SECRET_KEY });
  instance = await gateway.connectInstance();
  const { allowedHosts }: Config = readConfig({
    WAYGATE_HOST: "0.0.0.0",
    WAYGATE_OWNER_EMAIL: "a@b.example",
  });
  const lookup = async (host: string) => [
    { address: host === "inside.example" ? "10.0.0.1" : "1.1.1.1", family: 4 },
  ];
  outgoing = createSafeFetch({ allowedHosts, lookup });
});

afterAll(async () => {
  await outgoing.close();
  await gateway.stop();
});

const read = () => readSessionOptions({ db: gateway.database.db, box, outgoing }, instance.id);

async function setProxy(url: string | null): Promise<void> {
  const proxy = url === null ? null : box.seal(url, encryptionContextOf("instance", "proxy", instance.id));
  await gateway.database.db.updateTable("instance").set({ proxy }).where("id", "=", instance.id).execute();
}

describe("the session of an instance", () => {
  it("is opened with the customer's settings", async () => {
    await setProxy(null);
    const account_id = (await gateway.owner.me()).data.account.id;
    expect(await read()).toEqual({ account_id, markOnline: false });
    const { client, id } = instance;
    await client.updateInstance({ id, settings: { mark_online: true, device_name: " Acme " } });
    await client.sandboxReceive({ id, from: "5521966660000", text: "Oi" });
    await waitUntil(async () => (await read())?.activeAt);
    const activeAt = expect.any(Date);
    expect(await read()).toEqual({ account_id, markOnline: true, deviceName: "Acme", activeAt });
    await client.updateInstance({ id, proxy: { url: "socks5://me:secret@proxy.example" } });
    expect(await read()).toMatchObject({ proxy: "socks5://me:secret@proxy.example" });
  });

  it("resolves the address of its proxy under the outgoing policy, each time again", async () => {
    const find = async (url: string, name: string) => {
      await setProxy(url);
      const { lookup = () => expect.fail("no lookup") } = (await read()) ?? {};
      return new Promise((resolve) => lookup(name, { all: true }, (error, found) => resolve(error ?? found)));
    };
    expect(await find("http://proxy.example:3128", "proxy.example")).toEqual([
      { address: "1.1.1.1", family: 4 },
    ]);
    expect(await find("http://proxy.example:3128", "inside.example")).toBeInstanceOf(Error);
  });

  it.each([
    "socks5://inside.example",
    "http://10.0.0.1:3128",
    "socks4://169.254.169.254",
    "https://proxy.example:5432",
  ])("is not opened if its proxy is %s", async (url) => {
    await setProxy(url);
    expect(await read()).toBeUndefined();
    const reported: ConnectionEvent[] = [];
    const sessions = { open: () => expect.fail("opened"), close: async () => {} };
    const recorder = { record: async (_: number, event: ConnectionEvent) => void reported.push(event) };
    const log = undefined as never;
    const deps = { db: gateway.database.db, box, outgoing, recorder, log, sandbox: "on" as const };
    await openSession(deps, sessions, { id: instance.id, network: "sandbox" });
    expect(reported).toEqual([{ type: "failed", reason: "proxy_not_allowed" }]);
  });
});
