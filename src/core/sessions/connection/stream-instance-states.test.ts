import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { changeTiming } from "../../../../test/change-sandbox-timing.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../../test/sign-in.ts";
import { STATE_STREAM_TIMING } from "./stream-instance-states.ts";

changeTiming(STATE_STREAM_TIMING, { pollMs: 30 });

interface Frame {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: a story reads only the fields that it needs
  data: any;
}

let test: TestGateway;
let open: AbortController[] = [];

beforeAll(async () => {
  test = await startTestGateway({ WAYGATE_UNKNOWN_RATE: "0" });
});
afterEach(() => {
  for (const one of open) one.abort();
  open = [];
});
afterAll(() => test.stop());

/** Opens the stream. The returned array grows with the frames. */
async function follow(who?: { email: string }): Promise<Frame[]> {
  const { headers } = await signIn(test.url, who);
  const controller = new AbortController();
  open.push(controller);
  const { signal } = controller;
  const response = await fetch(`${test.url}/api/v1/instance-states/stream`, { headers, signal });
  expect(response.status).toBe(200);
  const frames: Frame[] = [];
  void read(response, frames).catch(() => {});
  await waitUntil(() => frames[0]?.event === "ready");
  return frames;
}

async function read(response: Response, frames: Frame[]): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, event] = /^event: (.*)$/m.exec(block) ?? [];
      const [, data = "{}"] = /^data: (.*)$/m.exec(block) ?? [];
      if (event) frames.push({ event, data: JSON.parse(data) });
    }
  }
}

const statesOf = (frames: Frame[], id: number) =>
  frames.filter(({ event, data }) => event === "state" && data.id === id).map(({ data }) => data);

it("shows each change of an instance, from its creation and its QR to its removal", async () => {
  const frames = await follow();
  const shop = await test.createInstance({ name: "Shop" });
  await waitUntil(() => statesOf(frames, shop.id).at(-1)?.status === "created");
  await shop.client.connectInstance({ id: shop.id, wait_seconds: 0 });
  await waitUntil(() => statesOf(frames, shop.id).at(-1)?.status === "qr_pending");
  const qr_code = (await shop.client.getInstanceQr({ id: shop.id })).data?.qr_code;
  await waitUntil(() => statesOf(frames, shop.id).at(-1)?.qr_code === qr_code);
  await shop.client.sandboxScan({ id: shop.id });
  await waitUntil(() => statesOf(frames, shop.id).at(-1)?.connected);
  expect(statesOf(frames, shop.id).at(-1)).toMatchObject({ name: "Shop", logged_in: true, qr: null });
  await shop.client.deleteInstance({ id: shop.id });
  await waitUntil(() => frames.some(({ event, data }) => event === "removed" && data.id === shop.id));
});

it("repeats no state that has not changed, and shows none of before", async () => {
  const quiet = await test.connectInstance();
  const frames = await follow();
  await test.owner.updateInstance({ id: quiet.id, name: "Renamed" });
  await waitUntil(() => statesOf(frames, quiet.id).length > 0);
  await test.database.db
    .updateTable("instance")
    .set({ last_seen_at: new Date() })
    .where("id", "=", quiet.id)
    .execute();
  const later = await test.createInstance();
  await waitUntil(() => statesOf(frames, later.id).length > 0);
  expect(statesOf(frames, quiet.id)).toHaveLength(1);
});

it("shows an agent the instances that it may use, and no other", async () => {
  const shop = await test.createInstance();
  const email = "agent@example.com";
  await test.owner.createUser({ name: "Agent", email, password: PASSWORD, instance_ids: [shop.id] });
  const frames = await follow({ email });
  const other = await test.createInstance();
  await test.owner.updateInstance({ id: shop.id, name: "Renamed" });
  await waitUntil(() => statesOf(frames, shop.id).length > 0);
  expect(statesOf(frames, other.id)).toEqual([]);
});

it("shows nothing of another account", async () => {
  const email = "other@example.com";
  await test.owner.createAccount({ name: "Other", email, password: PASSWORD });
  const frames = await follow({ email });
  const own = await follow();
  const shop = await test.createInstance();
  await waitUntil(() => statesOf(own, shop.id).length > 0);
  await test.createInstance();
  await waitUntil(() => own.length > 2);
  expect(frames.map(({ event }) => event)).toEqual(["ready"]);
});
