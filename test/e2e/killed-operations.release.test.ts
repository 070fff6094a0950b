import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { BUILT_IN_REVISION } from "../../src/core/client-version/find-revision.ts";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { startWebClientServer, type WebClientServer } from "../servers/web-client-server.ts";
import { PASSWORD, signIn } from "../sign-in.ts";
import { parseQr } from "../whatsapp-server/pairing/pairing.ts";
import { createE2eStory, type E2eStory } from "./e2e-story.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

/** While the file is written, and when it is complete but not recorded. */
const [WRITING, BEFORE_RECORD] = ["backup:writing", "backup:before-record"];

describe("a gateway that is killed while it makes a backup", () => {
  let story: E2eStory;

  beforeAll(async () => {
    story = await createE2eStory();
  });
  afterAll(() => story.end());

  test("reports the failure, and leaves no file that could be mistaken for a backup", async () => {
    const files = () => readdir(join(story.settings.WAYGATE_DATA_DIR ?? "", "backups"));
    const find = async () => (await owner.listBackups()).data[0];
    await story.start({ WAYGATE_FAULT_POINT: WRITING });
    let owner = await story.signIn();
    const starts: Record<string, string>[] = [{ WAYGATE_FAULT_POINT: BEFORE_RECORD }, {}];
    for (const next of starts) {
      const pending = owner.createBackup().catch(() => undefined);
      expect(await story.gateway.exited).toEqual({ code: null, signal: "SIGKILL" });
      await pending;
      expect(await files()).toHaveLength(1);
      await story.start(next);
      owner = await story.signIn();
      await waitUntil(async () => (await find())?.status === "failed", 60_000);
      expect(await find()).toMatchObject({ reason: "The process that made it ended.", file: null });
      await waitUntil(async () => (await files()).length === 0);
    }
    await owner.createBackup();
    await waitUntil(async () => (await find())?.status === "verified", 60_000);
    expect(await files()).toEqual([(await find())?.file]);
  });
});

const SHOP = { name: "Shop", email: "shop@example.com", password: PASSWORD };
const CUSTOMER = "5521966661234";

describe("a gateway that is killed while it removes an account", () => {
  let story: E2eStory;
  let account: number;

  beforeAll(async () => {
    story = await createE2eStory({ WAYGATE_SANDBOX: "on" });
    await story.start();
    account = (await (await story.signIn()).createAccount(SHOP)).data.id;
    await fillAccount();
    await story.gateway.kill();
    await story.dieAt("account:after-rows", async () => {
      await (await story.signIn()).removeAccount({ id: account });
    });
  });
  afterAll(() => story.end());

  /** An inbound message, an outbound one and a lead. */
  async function fillAccount(): Promise<void> {
    const baseUrl = story.gateway.url;
    const { client: user } = await signIn(baseUrl, SHOP);
    const { data } = await user.createInstance({ name: "Sales", network: "sandbox" });
    const { id, api_key } = data;
    const key = createClient({ baseUrl, apiKey: api_key });
    await key.sandboxScan({ id });
    await waitUntil(async () => (await key.getInstanceStatus({ id })).data.connected);
    await key.sandboxReceive({ id, from: CUSTOMER, text: "Oi" });
    await key.sendText({ id, number: CUSTOMER, text: "Hello" });
    await user.createLead({ name: "Ana", phone: CUSTOMER });
  }

  const findAccount = () =>
    story.rows("select removed_at is not null as is_hidden from account where id = $1", account);
  const actions = async () =>
    (
      await story.rows<{ action: string }>(
        "select action from audit where account_id = $1 and action like 'account.%' order by id",
        account,
      )
    ).map(({ action }) => action);

  test("removes the remaining rows when it starts again, and records the end once", async () => {
    expect(await findAccount()).toEqual([{ is_hidden: true }]);
    expect(await actions()).not.toContain("account.removed");

    await story.start();
    await waitUntil(async () => (await findAccount()).length === 0);

    const ended = (await actions()).filter((action) => action === "account.removed");
    expect(ended).toHaveLength(1);
    expect(await story.rows("select from lead where account_id = $1", account)).toEqual([]);
    expect(await story.rows("select from sandbox.device where account_id = $1", account)).toEqual([]);
    expect(await story.rows("select from audit where account_id = $1 and ip is not null", account)).toEqual(
      [],
    );
    const again = await (await story.signIn()).createAccount(SHOP);
    expect(again.data.id).not.toBe(account);
  });
});

const FIRST = BUILT_IN_REVISION + 70_000;
const SECOND = FIRST + 70_000;

describe("A gateway that is killed around the search for a client version", () => {
  let on: WhatsAppStory;
  let web: WebClientServer;

  beforeAll(async () => {
    web = await startWebClientServer(FIRST);
    on = await startWhatsAppStory({ env: { WAYGATE_CLIENT_VERSION_ORIGIN: web.origin } });
    await on.start();
    await on.pair();
  });

  afterAll(async () => {
    await on.end();
    await web.close();
  });

  const kept = async () => {
    const [row] = await on.story.rows<{ revision: number; is_wanted: boolean }>(
      "select revision::float8 as revision, requested_at > searched_at as is_wanted from client_version",
    );
    return row;
  };

  test("searches again when it died before the version was stored", async () => {
    expect(await kept()).toMatchObject({ revision: FIRST });
    await on.story.gateway.kill();
    web.publish(SECOND);
    await on.network.control.settings({ oldestRevision: SECOND });
    await on.story.rows("update client_version set searched_at = searched_at - interval '2 hours'");
    const asked = web.requests.length;
    await on.story.dieAt("client-version.found");
    expect(await kept()).toEqual({ revision: FIRST, is_wanted: true });
    await on.story.dieAt("client-version.kept");
    expect(await kept()).toEqual({ revision: SECOND, is_wanted: false });
    expect(web.requests.length).toBe(asked + 2);
  });

  test("uses the stored version after it died before the first use, without another search", async () => {
    const asked = web.requests.length;
    await on.start();
    await on.online();
    const { sockets } = await on.network.control.ledger();
    expect(sockets.at(-1)?.version).toBe(`2.3000.${SECOND}`);
    expect(web.requests.length).toBe(asked);
  });
});

let on: WhatsAppStory;

beforeAll(async () => {
  on = await startWhatsAppStory();
  await on.start();
});
afterAll(() => on.end());

test("a pairing continues after a kill -9 with the same keys and the newest secret", async () => {
  const owner = await on.story.signIn();
  const { data } = await owner.createInstance({ name: "Sales", network: "whatsapp" });
  Object.assign(on.instance, { id: data.id, api_key: data.api_key });
  const ask = { id: data.id, wait_seconds: 60 };
  const shown = async () => (await on.client().connectInstance(ask)).data;
  const first = await shown();
  const id = await on.network.control.refreshRegistration();
  const isAcked = async () =>
    (await on.network.control.registrationStanzas()).some(
      ({ tag, attrs }) => tag === "ack" && attrs.id === id,
    );
  await waitUntil(isAcked);
  // Acknowledged means stored, whether or not the QR code exists yet.
  await on.story.gateway.kill("SIGKILL");
  await on.start();
  const before = parseQr(first.qr_code ?? "");
  let qr = "";
  await waitUntil(async () => {
    qr = (await shown()).qr_code ?? qr;
    return qr !== "" && parseQr(qr).ref !== before.ref;
  });
  const after = parseQr(qr);
  expect(after).toMatchObject({ noiseKey: before.noiseKey, identity: before.identity });
  expect(after.advSecret).not.toBe(before.advSecret);
  await on.network.control.scan(on.instance.phone, qr);
  await on.online();
});
