import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";
import type { SecretChangeOptions } from "../../../../test/whatsapp-server/control.ts";
import { createClient } from "../../../client/client.ts";
import { newMessageId } from "../../../network/jid.ts";

let on: WhatsAppGateway;
let me: string;
let ana: string;
let bia: string;
let group: string;

beforeAll(async () => {
  on = await startWhatsAppGateway();
  me = on.instance.phone;
  ana = (await on.control.addPerson({ name: "Ana" })).phone;
  bia = (await on.control.addPerson({ name: "Bia" })).phone;
  group = (await on.control.addGroup("Team", [ana, bia, me])).jid;
});
afterAll(() => on?.stop());

/** Resolves once the people in the chat have the poll. */
async function send(to: string, more: object = {}): Promise<string> {
  const { id, client } = on.instance;
  const poll = { question: "Lunch?", options: ["Pizza", "Sushi"], ...more };
  const messageId = (await client.sendPoll({ id, jid: to, ...poll })).data.message_id ?? "";
  await waitUntil(async () => (await on.control.message(ana, messageId)) !== undefined);
  return messageId;
}

const vote = (by: string, to: string, id: string, options: string[], how: SecretChangeOptions = {}) =>
  on.control.sendEncryptedChange(by, to, id, { kind: "vote", options }, how);

/** The phones of the voters by option. */
async function votersOf(messageId: string): Promise<Record<string, (string | null)[]>> {
  const { id, client } = on.instance;
  const { options } = (await client.listVotes({ id, messageId })).data;
  return Object.fromEntries(options.map(({ text, voters }) => [text, voters.map(({ phone }) => phone)]));
}

async function expectVoters(messageId: string, voters: Record<string, string[]>): Promise<void> {
  await waitUntil(async () => JSON.stringify(await votersOf(messageId)) === JSON.stringify(voters)).catch(
    async () => expect(await votersOf(messageId)).toEqual(voters),
  );
}

/** By which addresses the key names the creator and the voter. */
const VOTES = [
  ["pn", "pn", "Pizza"],
  ["pn", "lid", "Sushi"],
  ["lid", "pn", "Pizza"],
  ["lid", "lid", "Sushi"],
] as const;

describe("votes on WhatsApp", () => {
  test.each([["a chat"], ["a group"]])("in %s are of one person, by LID or by number", async (where) => {
    const isGroup = where === "a group";
    const poll = await send(isGroup ? group : `${ana}@s.whatsapp.net`);
    const start = Date.now();
    for (const [nth, [author, sender, choice]] of VOTES.entries()) {
      await vote(ana, isGroup ? group : me, poll, [choice], { author, sender, at: start + nth * 1_000 });
      await expectVoters(poll, { Pizza: [], Sushi: [], [choice]: [ana] });
    }
  });

  test("that arrive late or twice change nothing", async () => {
    const poll = await send(group);
    const now = Date.now();
    await vote(ana, group, poll, ["Pizza"], { at: now });
    await vote(ana, group, poll, ["Sushi"], { at: now - 5_000 });
    await vote(ana, group, poll, ["Pizza"], { at: now });
    await vote(bia, group, poll, ["Sushi"], { at: now });
    await expectVoters(poll, { Pizza: [ana], Sushi: [bia] });
  });

  test("after a restart are read, of polls from before it", async () => {
    const poll = await send(group);
    await vote(ana, group, poll, ["Pizza"]);
    await expectVoters(poll, { Pizza: [ana], Sushi: [] });
    await on.gateway.restart();
    const { id, api_key: apiKey } = on.instance;
    on.instance.client = createClient({ baseUrl: on.gateway.url, apiKey });
    await vote(bia, group, poll, ["Sushi"]);
    await expectVoters(poll, { Pizza: [ana], Sushi: [bia] });
    await waitUntil(async () => (await on.instance.client.getInstanceStatus({ id })).data.connected);
  });

  test("before their poll are counted with it", async () => {
    const [poll, secret] = [newMessageId(), Buffer.alloc(32, 9)];
    await vote(bia, group, poll, ["Later"], { secret, writer: ana });
    const said = {
      kind: "poll",
      version: 3,
      question: "When?",
      options: ["Now", "Later"],
      selectable_count: 1,
    } as const;
    await on.control.sendMessage(ana, group, said, { id: poll, secret });
    await waitUntil(
      async () =>
        (await on.instance.client
          .listVotes({ id: on.instance.id, messageId: poll })
          .catch(() => undefined)) !== undefined,
    );
    await expectVoters(poll, { Now: [], Later: [bia] });
  });

  test("for an option that somebody adds count once it is known", async () => {
    const poll = await send(group);
    await vote(bia, group, poll, ["Soup"]);
    await vote(ana, group, poll, ["Pizza"]);
    await expectVoters(poll, { Pizza: [ana], Sushi: [] });
    await on.control.sendEncryptedChange(bia, group, poll, { kind: "poll_option", option: "Soup" });
    await expectVoters(poll, { Pizza: [ana], Sushi: [], Soup: [bia] });
  });

  test("of too many options, or by somebody else's secret, do not count", async () => {
    const poll = await send(group);
    await vote(ana, group, poll, ["Pizza", "Sushi"]);
    await vote(ana, group, poll, ["Pizza"], { secret: Buffer.alloc(32) });
    await vote(bia, group, poll, ["Sushi"]);
    await expectVoters(poll, { Pizza: [], Sushi: [bia] });
  });
});
