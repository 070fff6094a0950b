import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { MessageId } from "../../driver.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;
let me: string;

beforeEach(async () => {
  stage = await startWhatsAppStage();
  me = stage.phone.number;
  listener = stage.open();
  await listener.pair(stage.phone);
  await eventually(async () => expect((await storedKey()).timestampS).toBeDefined());
});

afterEach(() => stage.stop());

/** Restarts, as after a week if `isDue`. */
async function restart({ isDue }: { isDue: boolean }): Promise<void> {
  stage.abandon(listener);
  const { credentials } = listener;
  listener = stage.open({ ...(isDue && { timing: { signedPreKeyMs: 0 } }) }, { credentials });
  listener.session.connect();
  await listener.waitForEvent("connected");
}

const keyOnNetwork = async () => (await stage.control.person(me)).devices[0]?.signed_pre_key;

const storedKey = async () =>
  JSON.parse(Buffer.from((await listener.credentials.load()) ?? []).toString()).signedPreKey;

/** The network has the key, and the pairing is stored with it. */
const rotatedTo = (id: number) =>
  eventually(async () => expect([(await storedKey()).keyId, await keyOnNetwork()]).toEqual([id, id]));

/** A new contact fetches the current keys. The returned function writes with them. */
async function meet(): Promise<() => Promise<void>> {
  const { phone } = await stage.control.addPerson();
  await stage.control.meet(phone, me);
  return async () => {
    const id = await stage.control.sendMessage(phone, me, "Oi");
    expect((await listener.message(id as MessageId)).content).toMatchObject({ text: "Oi" });
  };
}

it("the key is replaced only when it is due, and messages under the previous ones are still read", async () => {
  const underFirst = await meet();
  await restart({ isDue: false });
  expect(await keyOnNetwork()).toBe(1);
  await restart({ isDue: true });
  await rotatedTo(2);
  const underSecond = await meet();
  await restart({ isDue: true });
  await rotatedTo(3);
  for (const write of [underFirst, underSecond, await meet()]) await write();
  const { decryptions } = await stage.control.ledger();
  expect(decryptions.filter(({ kind }) => kind === "unreadable")).toEqual([]);
});

it("a kill before the network's response loses no key, and the same key is offered again", async () => {
  await restart({ isDue: false });
  await stage.control.fault({ fault: "rotation_lost" });
  await restart({ isDue: true });
  await eventually(async () => expect(await keyOnNetwork()).toBe(2));
  const underUnconfirmed = await meet();
  await restart({ isDue: true });
  await rotatedTo(2);
  const underConfirmed = await meet();
  for (const write of [underUnconfirmed, underConfirmed]) await write();
});
