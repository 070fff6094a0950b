import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { packageRoot } from "../../src/platform/package-version.ts";
import { ADMIN_TOKEN, waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { launchGateway } from "../run/spawn-gateway.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

const BROKEN = {
  NODE_OPTIONS: `--import ${pathToFileURL(join(packageRoot(), "test/e2e/broken-library.mjs")).href}`,
};

let story: E2eStory;
let whatsapp: PairedInstance;
let sandbox: PairedInstance;

beforeAll(async () => {
  story = await createE2eStory({ WAYGATE_ADMIN_TOKEN: ADMIN_TOKEN });
  await story.start(BROKEN);
});
afterAll(() => story.end());

const health = () => createClient({ baseUrl: story.gateway.url, adminToken: ADMIN_TOKEN }).health();
const statusOf = async (instance: PairedInstance) =>
  (await story.clientOf(instance).getInstanceStatus({ id: instance.id })).data;
/** Polls, because a busy machine may be slow. */
const becomes = (instance: PairedInstance, status: string) =>
  waitUntil(async () => (await statusOf(instance).catch(() => undefined))?.status === status);
const disconnectionsOf = ({ id }: PairedInstance) =>
  story.receiver.of("instance.disconnected").filter(({ body }) => body.instance.id === id);

test("an instance for which Baileys cannot be loaded gets the status error and a reason", async () => {
  const owner = await story.signIn();
  const webhook_url = story.receiver.url;
  const { data } = await owner.createInstance({ name: "Sales", network: "whatsapp", webhook_url });
  story.receiver.trust(data.webhook_secret);
  whatsapp = { id: data.id, api_key: data.api_key, phone: "" };
  await expect(
    story.clientOf(whatsapp).connectInstance({ id: whatsapp.id, wait_seconds: 60 }),
  ).rejects.toMatchObject({
    code: "CONNECT_FAILED",
    details: { status: "error", reason: expect.stringMatching(/^library_failed: The gateway cannot load/) },
  });
  await waitUntil(() => disconnectionsOf(whatsapp).length > 0);
  expect(disconnectionsOf(whatsapp)[0]?.body.data).toMatchObject({
    status: "error",
    reason: "library_failed",
    will_retry: false,
  });
});

test("an instance whose credentials cannot be decrypted gets the status error and a reason", async () => {
  sandbox = await story.pair();
  await story.rows(
    "update credential set secret = $1 where instance_id = $2 returning 1",
    randomBytes(80),
    sandbox.id,
  );
  await story.clientOf(sandbox).reconnectInstance({ id: sandbox.id, wait_seconds: 0 });
  await becomes(sandbox, "error");
  expect((await statusOf(sandbox)).reason).toMatch(/^credentials_unreadable: .*WAYGATE_SECRET_KEY/);
});

test("the health page and the doctor command name both faults", async () => {
  const failed = [
    { reason: "credentials_unreadable", instances: 1 },
    { reason: "library_failed", instances: 1 },
  ];
  await waitUntil(async () => (await health()).detail?.database?.failed_instances.length === 2);
  const { detail, production_blockers } = await health();
  expect(detail?.database?.failed_instances).toEqual(failed);
  expect(production_blockers.map(({ key }) => key)).toContain("sessions_failing");

  const doctor = launchGateway({ ...story.settings, ...BROKEN }, "doctor");
  const { code } = await doctor.exited;
  expect(code).toBe(1);
  const output = doctor.output();
  expect(output).toMatch(/^fail {2}Baileys: it cannot be loaded .*baileys is broken on purpose/m);
  expect(output).toMatch(/^warn {2}sessions: .*credentials_unreadable \(1\), library_failed \(1\)/m);
});

test("a restart with an intact Baileys, or a new pairing, ends the fault", async () => {
  await story.gateway.kill("SIGTERM");
  await story.start();
  // Without a network the pairing gives up.
  await becomes(whatsapp, "disconnected");
  await story.clientOf(sandbox).logoutInstance({ id: sandbox.id });
  const { data } = await story.clientOf(sandbox).connectInstance({ id: sandbox.id, wait_seconds: 60 });
  expect(data.qr_code).not.toBeNull();
});
