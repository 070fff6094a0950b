import { proto } from "baileys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import type { SentContent } from "../../../../test/whatsapp-server/control.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { InboundContent, MessageId } from "../../driver.ts";
import { LATER_FIELDS } from "../baileys-fixes/keep-later-fields.ts";
import { ASSOCIATIONS, MESSAGE_FIELDS } from "./message-fields.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open();
  await listener.pair(stage.phone);
});

afterAll(() => stage.stop());

async function received(message: Record<string, unknown>): Promise<InboundContent> {
  const id = await stage.control.sendMessage(stage.contact.number, stage.phone.number, {
    kind: "raw",
    message,
  });
  return (await listener.message(id as MessageId)).content;
}

const vcardOf = (name: string, phone: string) =>
  `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;waid=${phone}:+${phone}\nEND:VCARD`;

describe("an inbound message with details", () => {
  it("with several cards reports each of them, up to a limit", async () => {
    const cards = [
      { displayName: "Bia", vcard: vcardOf("Bia", "5511988887777") },
      { displayName: "Caio", vcard: vcardOf("Caio", "5511988886666") },
      { displayName: "Huge", vcard: `${vcardOf("Huge", "5511988885555")}${"x".repeat(70_000)}` },
    ];
    expect(await received({ contactsArrayMessage: { displayName: "3 contacts", contacts: cards } })).toEqual({
      kind: "contact",
      name: "Bia",
      phone: "5511988887777",
      vcard: cards[0]?.vcard,
      more: [{ name: "Caio", phone: "5511988886666", vcard: cards[1]?.vcard }],
    });
  });

  it("with hundreds of cards reports fifty", async () => {
    const contacts = Array.from({ length: 300 }, (_, i) => ({
      displayName: `P${i}`,
      vcard: vcardOf("P", "55"),
    }));
    const content = await received({ contactsArrayMessage: { contacts } });
    expect(content).toMatchObject({ kind: "contact", name: "P0", more: { length: 49 } });
  });

  const NONE = { id: null, name: null, params: null };
  it.each([
    [
      "a button",
      { buttonsResponseMessage: { selectedButtonId: "yes-1", selectedDisplayText: "Yes" } },
      { text: "Yes", choice: { ...NONE, kind: "button", id: "yes-1" } },
    ],
    [
      "a button of a template",
      { templateButtonReplyMessage: { selectedId: "t-2", selectedDisplayText: "Track" } },
      { text: "Track", choice: { ...NONE, kind: "template_button", id: "t-2" } },
    ],
    [
      "a row of a list",
      { listResponseMessage: { title: "Blue", singleSelectReply: { selectedRowId: "row-3" } } },
      { text: "Blue", choice: { ...NONE, kind: "list", id: "row-3" } },
    ],
    [
      "a button without words",
      { buttonsResponseMessage: { selectedButtonId: "yes-1" } },
      { text: "yes-1", choice: { ...NONE, kind: "button", id: "yes-1" } },
    ],
    [
      "a form",
      {
        interactiveResponseMessage: {
          body: { text: "Sent" },
          nativeFlowResponseMessage: { name: "flow", paramsJson: '{"size":"M"}' },
        },
      },
      { text: "Sent", choice: { ...NONE, kind: "flow", name: "flow", params: '{"size":"M"}' } },
    ],
    [
      "a form with more than can be kept",
      {
        interactiveResponseMessage: {
          nativeFlowResponseMessage: { name: "flow", paramsJson: `{"a":"${"x".repeat(9_000)}"}` },
        },
      },
      { text: "flow", choice: { ...NONE, kind: "flow", name: "flow" } },
    ],
    [
      "an invitation",
      {
        groupInviteMessage: {
          groupJid: "120363000000000001@g.us",
          inviteCode: "AbC",
          groupName: "Team",
          inviteExpiration: 1_800_000_000,
          caption: "Come in",
        },
      },
      {
        text: "Come in",
        invite: {
          group: "120363000000000001@g.us",
          code: "AbC",
          name: "Team",
          expires_at: "2027-01-15T08:00:00.000Z",
        },
      },
    ],
  ])("that replies with %s reports what was chosen", async (_, message, content) => {
    expect(await received(message)).toEqual({ kind: "text", ...content });
  });

  it("reports the advertisement that it comes from, with texts of limited length", async () => {
    const externalAdReply = {
      title: "Sale",
      body: "b".repeat(9_000),
      sourceType: "ad",
      sourceId: "120210",
      ctwaClid: "ARAk",
      sourceUrl: "https://fb.me/1",
      sourceApp: "facebook",
      thumbnail: Buffer.alloc(9_000).toString("base64"),
    };
    const contextInfo = { externalAdReply, entryPointConversionSource: "ctwa_ad" };
    const content = await received({ extendedTextMessage: { text: "Is it there?", contextInfo } });
    expect(content).toEqual({
      kind: "text",
      text: "Is it there?",
      ad: {
        source_type: "ad",
        source_id: "120210",
        source_url: "https://fb.me/1",
        source_app: "facebook",
        entry_point: "ctwa_ad",
        title: "Sale",
        body: "b".repeat(4096),
        ctwa_clid: "ARAk",
        media_url: null,
        thumbnail_url: null,
        ref: null,
      },
    });
  });

  it("with a card that its sender drew around a link is no click on an advertisement", async () => {
    const contextInfo = { externalAdReply: { title: "My shop", sourceUrl: "https://shop.example" } };
    expect(await received({ extendedTextMessage: { text: "Look", contextInfo } })).not.toHaveProperty("ad");
  });

  it("reports that it was forwarded, and how often", async () => {
    const contextInfo = { isForwarded: true, forwardingScore: 5 };
    expect(await received({ extendedTextMessage: { text: "News", contextInfo } })).toMatchObject({
      forwarded: { score: 5 },
    });
  });
});

const namesOf = (values: object): string[] =>
  Object.keys(values).filter((name) => Number.isNaN(Number(name)) && name !== "toJSON");

/** Fields of proto messages without a table: those read, and those known and ignored. */
const DECIDED: Record<string, [proto: object, read: string[], ignored: string[]]> = {
  SecretEncType: [
    proto.Message.SecretEncryptedMessage.SecretEncType,
    ["EVENT_EDIT", "MESSAGE_EDIT"],
    ["UNKNOWN"],
  ],
  MessageContextInfo: [
    proto.MessageContextInfo.prototype,
    ["messageSecret", "messageAssociation"],
    [
      "deviceListMetadata",
      "deviceListMetadataVersion",
      "paddingBytes",
      "messageAddOnDurationInSecs",
      "botMessageSecret",
      "botMetadata",
      "reportingTokenVersion",
      "messageAddOnExpiryType",
      "capiCreatedGroup",
      "supportPayload",
      "limitSharing",
      "limitSharingV2",
      "threadId",
      "weblinkRenderConfig",
    ],
  ],
  ProtocolMessageType: [
    proto.Message.ProtocolMessage.Type,
    [
      "REVOKE",
      "EPHEMERAL_SETTING",
      "HISTORY_SYNC_NOTIFICATION",
      "APP_STATE_SYNC_KEY_SHARE",
      "MESSAGE_EDIT",
      "PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE",
      "LID_MIGRATION_MAPPING_SYNC",
    ],
    [
      "EPHEMERAL_SYNC_RESPONSE",
      "APP_STATE_SYNC_KEY_REQUEST",
      "MSG_FANOUT_BACKFILL_REQUEST",
      "INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC",
      "APP_STATE_FATAL_EXCEPTION_NOTIFICATION",
      "SHARE_PHONE_NUMBER",
      "PEER_DATA_OPERATION_REQUEST_MESSAGE",
      "REQUEST_WELCOME_MESSAGE",
      "BOT_FEEDBACK_MESSAGE",
      "MEDIA_NOTIFY_MESSAGE",
      "CLOUD_API_THREAD_CONTROL_NOTIFICATION",
      "REMINDER_MESSAGE",
      "BOT_MEMU_ONBOARDING_MESSAGE",
      "STATUS_MENTION_MESSAGE",
      "STOP_GENERATION_MESSAGE",
      "LIMIT_SHARING",
      "AI_PSI_METADATA",
      "AI_QUERY_FANOUT",
      "GROUP_MEMBER_LABEL_CHANGE",
    ],
  ],
};

it.each(Object.entries(DECIDED))(
  "each name of the network's %s is either read or ignored on purpose",
  (_, part) => {
    const [values, read, ignored] = part;
    expect(namesOf(values).sort()).toEqual([...read, ...ignored].sort());
  },
);

/** A text of the sender, by field. */
const words = "words";
const note = { noteMessage: { conversation: words } };
const poll = { name: words, options: [{ optionName: "a" }] };
const results = { name: words, pollVotes: [{ optionName: "a", optionVoteCount: 2 }] };
const template = { hydratedTemplate: { hydratedContentText: words } };
const TEXTS: Record<string, unknown> = {
  conversation: words,
  extendedTextMessage: { text: words },
  highlyStructuredMessage: { hydratedHsm: template },
  sendPaymentMessage: note,
  requestPaymentMessage: note,
  templateMessage: template,
  groupInviteMessage: { groupName: words },
  templateButtonReplyMessage: { selectedDisplayText: words },
  productMessage: { product: { title: words } },
  listMessage: { description: words },
  orderMessage: { message: words },
  listResponseMessage: { title: words },
  invoiceMessage: { note: words },
  buttonsMessage: { contentText: words },
  buttonsResponseMessage: { selectedDisplayText: words },
  interactiveMessage: { carouselMessage: { cards: [{ body: { text: words } }] } },
  interactiveResponseMessage: { body: { text: words } },
  pollCreationMessage: poll,
  pollCreationMessageV2: poll,
  pollCreationMessageV3: poll,
  pollCreationMessageV5: poll,
  scheduledCallCreationMessage: { title: words },
  bcallMessage: { caption: words },
  eventMessage: { name: words },
  newsletterAdminInviteMessage: { newsletterName: words },
  newsletterFollowerInviteMessageV2: { caption: words },
  stickerPackMessage: { name: words },
  pollResultSnapshotMessage: results,
  pollResultSnapshotMessageV3: results,
  richResponseMessage: { submessages: [{ messageText: words }] },
  statusQuestionAnswerMessage: { text: words },
  questionResponseMessage: { text: words },
  statusQuotedMessage: { text: words },
};

const inside = { conversation: words };
const part = (field: number, bytes: Uint8Array) =>
  Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
const varint = (value: number): Buffer =>
  value < 128
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value % 128) + 128]), varint(Math.floor(value / 128))]);
const wrapped = part(1, proto.Message.encode(inside).finish());

/** Payloads with fields that Baileys does not know, by number. */
const LATER: Record<number, Uint8Array> = {
  115: proto.Message.PollResultSnapshotMessage.encode(results).finish(),
  116: wrapped,
  118: wrapped,
  119: proto.Message.PollCreationMessage.encode(poll).finish(),
  122: part(3, Buffer.from(words)),
  124: part(3, Buffer.from(words)),
  125: part(3, Buffer.from(words)),
  126: wrapped,
  131: wrapped,
};

type Field = keyof typeof MESSAGE_FIELDS;

function inShort(content: InboundContent): string {
  if (content.kind === "text") return `text ${content.text.split("\n")[0]}`;
  if (content.kind === "unsupported") return `unsupported ${content.name} (${content.reason})`;
  return content.kind === "media" ? content.media_type : content.kind;
}

describe("each field of the network's message", () => {
  const say = (content: SentContent) =>
    stage.control.sendMessage(stage.contact.number, stage.phone.number, content);

  /** A summary of the gateway's report of each message; `nothing` without one. */
  async function reported(contents: Record<string, SentContent>): Promise<Record<string, string>> {
    const sent = new Map<string, string>();
    for (const [name, content] of Object.entries(contents)) {
      sent.set(await say(content), name);
    }
    await listener.message((await say({ kind: "text", text: "The end." })) as MessageId);
    const found = Object.fromEntries(Object.keys(contents).map((name) => [name, "nothing"]));
    for (const { message } of listener.all("message")) {
      const name = sent.get(message.id);
      if (name) found[name] = inShort(message.content);
    }
    return found;
  }

  const kindOf = (field: string) => field.replace(/Message(V\d+)?$/, "");
  const names = Object.keys(MESSAGE_FIELDS) as Field[];
  const later = new Map<Field, number>([...LATER_FIELDS].map(([number, [name]]) => [name, number]));

  /** A message with only this field. */
  function messageWith(name: Field, value: unknown, bytes: Uint8Array = Buffer.alloc(0)): SentContent {
    const number = later.get(name);
    if (number !== undefined) return { kind: "payload", bytes: part(number, bytes) };
    return { kind: "raw", message: { [name]: value } };
  }

  function sampleOf(name: Field): SentContent {
    if (MESSAGE_FIELDS[name] === "opened") return messageWith(name, { message: inside }, wrapped);
    const value = name === "contactsArrayMessage" ? { contacts: [{}] } : {};
    return messageWith(name, TEXTS[name] ?? value, LATER[later.get(name) ?? 0]);
  }

  function expectedOf(name: Field): string {
    const use = MESSAGE_FIELDS[name];
    if (use === "opened" || use === "text") return "text words";
    if (use === "silent" || use === "change") return "nothing";
    const reason = name === "placeholderMessage" ? "masked" : "unknown_kind";
    return use === "unsupported" ? `unsupported ${kindOf(name)} (${reason})` : use;
  }

  it("arrives as the table says", async () => {
    const contents = Object.fromEntries(names.map((name) => [name, sampleOf(name)]));
    expect(await reported(contents)).toEqual(
      Object.fromEntries(names.map((name) => [name, expectedOf(name)])),
    );
  });

  it("is unsupported if it is a text in which nothing is written", async () => {
    const silent = ["conversation", "extendedTextMessage"];
    const texts = names.filter((name) => MESSAGE_FIELDS[name] === "text" && !silent.includes(name));
    const expected = texts.map((name) => [name, `unsupported ${kindOf(name)} (unknown_kind)`]);
    expect(await reported(Object.fromEntries(texts.map((name) => [name, messageWith(name, {})])))).toEqual(
      Object.fromEntries(expected),
    );
  });

  it("that belongs to an earlier message is a message if phones show it as one", async () => {
    const types = namesOf(proto.MessageAssociation.AssociationType);
    expect(types).toEqual(Object.keys(ASSOCIATIONS));
    const picture = { message: { imageMessage: {} } };
    const saidWith = (messageAssociation: unknown, message: Record<string, unknown>): SentContent => {
      return { kind: "raw", message: { messageContextInfo: { messageAssociation }, ...message } };
    };
    const associated = types.map((associationType) => [
      associationType,
      saidWith({ associationType }, { associatedChildMessage: picture }),
    ]);
    const parts = {
      cover: { kind: "raw", message: { eventCoverImage: picture } },
      option: { kind: "raw", message: { pollCreationOptionImageMessage: picture } },
      later: saidWith({ associationType: 4_000 }, { imageMessage: {} }),
    } as const;
    expect(await reported({ ...Object.fromEntries(associated), ...parts })).toEqual({
      ...Object.fromEntries(
        Object.entries(ASSOCIATIONS).map(([name, use]) => [name, use === "shown" ? "image" : "nothing"]),
      ),
      cover: "nothing",
      option: "nothing",
      later: "image",
    });
    for (const name of ["EVENT_COVER_IMAGE", "MEDIA_POLL", "STICKER_ANNOTATION"] as const)
      expect(ASSOCIATIONS[name]).toBe("silent");
  });

  it("that is a protocol message of a person is no message, and a deletion or an edit of one at most", async () => {
    const { Type } = proto.Message.ProtocolMessage;
    const before = listener.events.length;
    const said = namesOf(Type).map((type) => {
      const protocolMessage = { type, key: { id: `3A0OF${type}` } };
      return [type, { kind: "raw", message: { protocolMessage } }] as const;
    });
    const nothing = Object.fromEntries(namesOf(Type).map((type) => [type, "nothing"]));
    expect(await reported(Object.fromEntries(said))).toEqual(nothing);
    const changes = listener.events.slice(before).filter(({ type }) => type !== "message");
    expect(changes).toMatchObject([
      { type: "message_deleted", id: "3A0OFREVOKE" },
      { type: "change_ignored", reason: "undecryptable" },
    ]);
  });

  it("is in the table, and in Baileys' own proto or among the later ones", () => {
    const known = Object.keys(proto.Message.prototype).filter((name) => name !== "toJSON");
    expect(names.filter((name) => !known.includes(name)).sort()).toEqual(
      [...later.keys()].filter((name) => !known.includes(name)).sort(),
    );
    expect(known.filter((name) => !(name in MESSAGE_FIELDS))).toEqual([]);
  });

  it("is read inside any wrapper, including unknown ones, but not inside a thousand of them", async () => {
    const nested = (depth: number) => {
      let bytes: Uint8Array = part(119, LATER[119] ?? Buffer.alloc(0));
      for (let i = 0; i < depth; i++) bytes = part(i % 2 === 0 ? 118 : 40, part(1, bytes));
      return bytes;
    };
    expect(
      await reported({
        twelve: { kind: "payload", bytes: nested(12) },
        thousand: { kind: "payload", bytes: nested(1_000) },
        unknown: { kind: "payload", bytes: part(40, part(1, part(4_000, Buffer.from("?")))) },
      }),
    ).toEqual({
      twelve: "text words",
      thousand: "unsupported ephemeral (unknown_kind)",
      unknown: "unsupported field_4000 (unknown_kind)",
    });
  });

  it("is a code that its sender hides from linked devices, in whichever part it is", async () => {
    const masked = { hydratedContentText: "Your code is 1234", maskLinkedDevices: true };
    const raw = (message: Record<string, unknown>) => ({ kind: "raw", message }) as const;
    const forms = [
      { hydratedTemplate: masked },
      { hydratedFourRowTemplate: masked },
      { hydratedFourRowTemplate: masked, hydratedTemplate: template.hydratedTemplate },
    ];
    const codes = forms.flatMap((form) => [
      raw({ templateMessage: form }),
      raw({ highlyStructuredMessage: { hydratedHsm: form } }),
    ]);
    const said = await reported(Object.fromEntries(codes.map((code, nth) => [nth, code])));
    expect(new Set(Object.values(said))).toEqual(
      new Set(["unsupported template (masked)", "unsupported highlyStructured (masked)"]),
    );
  });
});

describe("a message outside of its chat, or without its content", () => {
  const from = () => stage.contact.number;
  const LIST = "1700000000@broadcast";

  it("arrives in the chat with its sender if it went through a broadcast list, at once or resent", async () => {
    const { lid, jid } = await stage.control.person(from());
    const addresses: Record<string, string>[] = [
      { participant: jid, participant_lid: lid },
      { participant: lid, participant_pn: jid },
    ];
    for (const corrupt of [false, true])
      for (const attrs of addresses) {
        const options = { attrs: { from: LIST, ...attrs }, corrupt };
        const said = { kind: "text", text: "Prices of today" } as const;
        const id = await stage.control.sendMessage(from(), stage.phone.number, said, options);
        await eventually(() => {
          const found = listener.all("message").filter(({ message }) => message.id === id);
          expect(
            found.map(({ message }) => [message.chat, message.sender.phone, inShort(message.content)]),
          ).toEqual([
            ...(corrupt ? [[jid, from(), "unsupported encrypted (undecryptable)"]] : []),
            [jid, from(), "text Prices of today"],
          ]);
        });
      }
  });

  it("of the own phone to a broadcast list arrives in the chat with each recipient, with its changes and receipts", async () => {
    const { control, phone } = stage;
    const people = [
      await control.person(from()),
      await control.addPerson(),
      await control.addPerson({ opaque: true }),
    ];
    const recipients = people.map(({ phone }) => phone);
    const jids = people.map(({ jid }) => jid).sort();
    for (const addressing of ["lid", "pn"] as const) {
      const list = { jid: LIST, recipients, addressing };
      const id = await control.sendMessage(phone.number, from(), "Closed today", { list });
      await control.edit(phone.number, from(), id, "Closed tomorrow", { list });
      await control.read(from(), [id]);
      await eventually(() => {
        const sent = listener.all("message").filter(({ message }) => message.id === id);
        const shown = sent.map(({ message }) => [message.chat, message.from_me, inShort(message.content)]);
        expect(shown.sort()).toEqual(jids.map((jid) => [jid, true, "text Closed today"]));
        const edits = listener.all("message_edited").filter((edit) => edit.id === id);
        expect(edits.map(({ chat, from_me, text }) => [chat, from_me, text]).sort()).toEqual(
          jids.map((jid) => [jid, true, "Closed tomorrow"]),
        );
        const statuses = listener.all("message_status").filter(({ ids }) => ids.includes(id as MessageId));
        expect(statuses.map(({ chat, status, from_me }) => [chat, status, from_me]).sort()).toEqual(
          [...jids.map((jid) => [jid, "delivered", true]), [people[0]?.jid, "read", true]].sort(),
        );
      });
      await eventually(async () => {
        const { receipts } = await control.ledger();
        expect(receipts.filter(({ ids }) => ids.includes(id))).toMatchObject([{ to: LIST, type: "sender" }]);
      });
    }
  });

  it("that cannot be decoded is taken, and arrives as unsupported", async () => {
    const said = { kind: "payload", bytes: Buffer.from([0x0a, 0xff]) } as const;
    const id = await stage.control.sendMessage(from(), stage.phone.number, said);
    const { content } = await listener.message(id as MessageId);
    expect(inShort(content)).toBe("unsupported undecoded (unknown_kind)");
    await eventually(async () => {
      const { receipts } = await stage.control.ledger();
      expect(receipts.filter(({ ids }) => ids.includes(id)).map(({ type }) => type)).toEqual(["inactive"]);
    });
  });

  it.each([
    ["view_once", "unsupported viewOnce (view_once)"],
    ["view_once_unavailable_fanout", "unsupported viewOnce (view_once)"],
    ["hosted_unavailable_fanout", "unsupported hosted (unknown_kind)"],
  ])("that the network only announces arrives once: %s", async (type, expected) => {
    const { jid } = await stage.control.person(from());
    const id = `UNAVAILABLE-${type}`;
    const attrs = { id, from: jid, t: String(Math.floor(Date.now() / 1000)), type: "media" };
    const content = [{ tag: "unavailable", attrs: { type } }];
    await stage.control.push(stage.phone.number, { tag: "message", attrs, content });
    await listener.message(id as MessageId);
    await listener.message((await stage.contact.sendMessage({ kind: "text", text: "Next" })) as MessageId);
    const found = listener.all("message").filter(({ message }) => message.id === id);
    expect(found.map(({ message }) => [message.chat, inShort(message.content)])).toEqual([[jid, expected]]);
  });
});
