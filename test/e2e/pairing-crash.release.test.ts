import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { parseQr } from "../whatsapp-server/pairing.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

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
  // Acknowledged means stored: it does not matter whether the QR code was generated again by now.
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
