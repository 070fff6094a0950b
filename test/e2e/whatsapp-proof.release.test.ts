import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { sendAll } from "./send-history.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

/** `WAYGATE_PROOF=full` sends as many messages as the documentation says, in ten minutes. */
const IS_FULL = process.env.WAYGATE_PROOF === "full";
const KILLED = IS_FULL ? { messages: 300, kills: 50 } : { messages: 40, kills: 3 };
const PATIENCE_MS = IS_FULL ? 1_800_000 : 300_000;

describe("messages between a gateway and WhatsApp", () => {
  let on: WhatsAppStory;
  let contact: string;
  /** QR codes shown so far. */
  let qrs: number;

  beforeAll(async () => {
    on = await startWhatsAppStory();
    contact = (await on.network.control.addPerson({ phone: newPhone() })).phone;
    await on.start();
    await on.pair();
    await on.story.drained();
    qrs = on.receivedMessages("instance.qr").length;
  });

  afterAll(() => on.end());

  /** The messages on a contact's phone for one chat, in order. */
  async function shown(phone: string, prefix: string): Promise<string[]> {
    const seen = (await on.network.control.seen(phone)).filter((one) => one.type === "message");
    const texts = seen.flatMap(({ content }) => (content.kind === "text" ? [content.text] : []));
    return texts.filter((text) => text.startsWith(prefix));
  }

  const heard = (prefix: string): string[] =>
    on.receivedMessages("message.received").flatMap(({ text }) => (text?.startsWith(prefix) ? [text] : []));

  async function expectNothingUnreadable(since: number): Promise<void> {
    const { decryptions, deliveries } = await on.network.control.ledger();
    expect(decryptions.filter(({ error }) => error !== undefined)).toEqual([]);
    const own = deliveries.filter(({ phone, at }) => phone === on.instance.phone && at > since);
    expect(own.filter(({ retries }) => retries > 0)).toEqual([]);
    expect(on.receivedMessages("instance.qr")).toHaveLength(qrs);
  }

  test.each([
    ["person", false],
    ["group", true],
  ])(
    "of a %s are all stored once while the gateway is killed and its database is unavailable",
    { timeout: PATIENCE_MS },
    async (name, isGroup) => {
      const { network, story, instance } = on;
      const group = isGroup && (await network.control.addGroup("Team", [contact, instance.phone])).jid;
      const since = Date.now();
      const texts = Array.from({ length: KILLED.messages }, (_, i) => `${name}-in-${i}`);
      const arriving = (async () => {
        for (const text of texts) {
          await network.control.sendMessage(contact, group || instance.phone, text);
          await delay(Math.random() * 60);
        }
      })();
      const plan = texts.map((_, i) => ({ text: `${name}-out-${i}`, number: group || contact }));
      const leaving = sendAll(story, instance, plan);
      for (let i = 0; i < KILLED.kills; i++) {
        await delay(300 + Math.random() * 900);
        if (i === Math.floor(KILLED.kills / 2)) await on.withoutDatabase(() => delay(1_500));
        await story.gateway.kill();
        await on.start();
      }
      const accepted = await leaving;
      await arriving;
      const inbound = `${name}-in-`;
      await waitUntil(() => new Set(heard(inbound)).size === texts.length, PATIENCE_MS);
      await story.drained(PATIENCE_MS);
      expect(heard(inbound).sort()).toEqual(texts.toSorted());
      expect((await shown(contact, `${name}-out-`)).sort()).toEqual(plan.map(({ text }) => text).sort());
      const ids = new Set(accepted.map(({ message_id }) => message_id));
      const outcomes = on.receivedMessages("message.sent").filter(({ message_id }) => ids.has(message_id));
      expect(outcomes).toHaveLength(accepted.length);
      await expectNothingUnreadable(since);
    },
  );
});
