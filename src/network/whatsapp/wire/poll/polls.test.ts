import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../../test/conformance/listener.ts";
import type { SaidPoll } from "../../../../../test/whatsapp-server/control.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../../test/whatsapp-stage.ts";
import { pollOptionId, toPollMessage } from "../../../content/poll.ts";
import type { Jid, MessageId, NetworkEvent, OriginalMessage, PollContent } from "../../../driver.ts";
import { newMessageId } from "../../../jid.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;
let group: Jid;
/** What the log of the gateway would have. */
const log = new Map<string, OriginalMessage>();

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open({}, { findOriginal: async (_, id) => log.get(id) });
  await listener.pair(stage.phone);
  const { contact, phone, control } = stage;
  group = (await control.addGroup("Team", [contact.number, phone.number])).jid as Jid;
});

afterAll(() => stage.stop());

const LUNCH = pollOf("Lunch?", ["Pizza", "Sushi", "Salad"]);

function pollOf(question: string, texts: string[], more: Partial<PollContent> = {}): PollContent {
  const options = texts.map((text) => ({ id: pollOptionId(text), text }));
  return { question, options, selectable_count: 1, ...more };
}

async function send(to: Jid, poll: PollContent): Promise<MessageId> {
  const id = newMessageId();
  const result = await listener.session.send(to, toPollMessage(poll), { id });
  if (result.outcome !== "accepted") throw new Error(`The poll was not sent: ${result.outcome}`);
  log.set(id, { from_me: true, sender: null, unreadable: false, secret: result.secret, text: null, poll });
  return id;
}

async function seenBy(number: string, id: string): Promise<unknown> {
  const seen = await stage.control.seen(number);
  return seen.flatMap((one) => (one.type === "message" && one.id === id ? [one.content] : []))[0];
}

type Voted = Extract<NetworkEvent, { type: "poll_voted" }>;

async function votesOn(id: string, count: number): Promise<Voted[]> {
  return eventually(() => {
    const votes = listener.events.flatMap((one) => (one.type === "poll_voted" && one.id === id ? [one] : []));
    expect(votes).toHaveLength(count);
    return votes;
  });
}

describe("a poll that is sent", () => {
  it.each([
    ["one choice", {}, 3],
    ["several choices", { selectable_count: 0 }, 1],
    ["hidden names", { hide_voters: true }, 6],
    ["an end", { selectable_count: 2, ends_at: "2031-05-01T12:00:00.000Z" }, 6],
  ] as const)("with %s has the version that phones expect", async (_, more, version) => {
    for (const to of [stage.contact.jid, group]) {
      const poll = pollOf("Lunch?", ["Pizza", "Sushi"], more);
      const id = await send(to, poll);
      const { question, selectable_count, hide_voters, ends_at } = poll;
      await eventually(async () =>
        expect(await seenBy(stage.contact.number, id)).toEqual({
          kind: "poll",
          version,
          question,
          options: ["Pizza", "Sushi"],
          selectable_count,
          ...(hide_voters && { hide_voters }),
          ...(ends_at && { ends_at }),
        }),
      );
      const { arrivals } = await stage.control.ledger();
      expect(arrivals.find((one) => one.id === id)).toMatchObject({
        type: "poll",
        meta: { polltype: "creation" },
      });
    }
  });
});

describe("a poll that arrives", () => {
  it.each([1, 3, 6] as const)("in version %i is read with its options", async (version) => {
    const said: SaidPoll = {
      kind: "poll",
      version,
      question: "When?",
      options: ["Now", "Later"],
      selectable_count: 1,
    };
    const late = version === 6 ? { hide_voters: true as const, ends_at: "2031-05-01T12:00:00.000Z" } : {};
    const { contact, phone, control } = stage;
    const id = await control.sendMessage(contact.number, phone.number, { ...said, ...late });
    const { content } = await listener.message(id as MessageId);
    expect(content).toEqual(toPollMessage(pollOf("When?", ["Now", "Later"], late)));
    expect(content).toMatchObject({ text: "When?\n1. Now\n2. Later" });
  });
});

describe("a vote", () => {
  const ADDRESSES = [
    ["pn", "pn"],
    ["pn", "lid"],
    ["lid", "pn"],
    ["lid", "lid"],
  ] as const;

  it.each([["a chat"], ["a group"]])("in %s is read, whichever addresses its key names", async (where) => {
    const { contact, phone, control } = stage;
    const isGroup = where === "a group";
    const id = await send(isGroup ? group : contact.jid, LUNCH);
    await eventually(async () => expect(await seenBy(contact.number, id)).toBeDefined());
    const start = Date.now();
    for (const [nth, [author, sender]] of ADDRESSES.entries()) {
      const options = ["Pizza", "Sushi", "Salad", "Pizza"].slice(nth, nth + 1);
      const at = start + nth * 1_000;
      const to = isGroup ? group : phone.number;
      await control.sendEncryptedChange(
        contact.number,
        to,
        id,
        { kind: "vote", options },
        { author, sender, at },
      );
      const vote = (await votesOn(id, nth + 1)).at(-1);
      expect(vote).toMatchObject({
        chat: isGroup ? group : contact.jid,
        from_me: true,
        by: { phone: contact.number },
        options: options.map(pollOptionId),
        at: new Date(at),
      });
    }
  });

  it("may name several options, none, and one that somebody has just added", async () => {
    const { contact, phone, control } = stage;
    const id = await send(contact.jid, { ...LUNCH, selectable_count: 0 });
    await eventually(async () => expect(await seenBy(contact.number, id)).toBeDefined());
    const choices = [["Pizza", "Salad"], [], ["Soup"]];
    for (const options of choices)
      await control.sendEncryptedChange(contact.number, phone.number, id, { kind: "vote", options });
    const votes = await votesOn(id, 3);
    expect(votes.map(({ options }) => options)).toEqual(choices.map((texts) => texts.map(pollOptionId)));
  });

  it("before its poll comes with the poll", async () => {
    const { contact, phone, control } = stage;
    const said: SaidPoll = {
      kind: "poll",
      version: 3,
      question: "Now?",
      options: ["Yes", "No"],
      selectable_count: 1,
    };
    const [id, secret] = [newMessageId(), Buffer.alloc(32, 7)];
    const vote = { kind: "vote", options: ["No"] } as const;
    await control.sendEncryptedChange(contact.number, phone.number, id, vote, {
      secret,
      writer: contact.number,
    });
    await control.sendMessage(contact.number, phone.number, said, { id, secret });
    const { votes } = await listener.message(id);
    expect(votes).toMatchObject([{ by: { phone: contact.number }, options: [pollOptionId("No")] }]);
  });

  it.each([
    ["under another secret", { secret: Buffer.alloc(32, 1) }, "undecryptable"],
    ["for somebody else's poll", { writer: "contact" }, "undecryptable"],
  ])(
    "%s changes nothing",
    async (_, { writer, ...options }: { writer?: string; secret?: Buffer }, reason) => {
      const { contact, phone, control } = stage;
      const id = await send(contact.jid, LUNCH);
      await eventually(async () => expect(await seenBy(contact.number, id)).toBeDefined());
      const before = listener.events.length;
      const named = { ...options, ...(writer && { writer: contact.number }) };
      await control.sendEncryptedChange(
        contact.number,
        phone.number,
        id,
        { kind: "vote", options: ["Pizza"] },
        named,
      );
      await eventually(() =>
        expect(listener.events.slice(before)).toContainEqual({ type: "change_ignored", reason }),
      );
    },
  );

  it("is not counted twice for an added option, which votes may name from then on", async () => {
    const { contact, phone, control } = stage;
    const id = await send(contact.jid, LUNCH);
    await eventually(async () => expect(await seenBy(contact.number, id)).toBeDefined());
    await control.sendEncryptedChange(contact.number, phone.number, id, {
      kind: "poll_option",
      option: "Soup",
    });
    const edit = await eventually(() => {
      const found = listener.events.find((one) => one.type === "message_edited" && one.id === id);
      expect(found).toBeDefined();
      return found;
    });
    const poll = pollOf("Lunch?", ["Pizza", "Sushi", "Salad", "Soup"]);
    expect(edit).toMatchObject({ is_open: true, text: toPollMessage(poll).text, poll });
  });
});
