import type { Pool } from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { describeDriver } from "../../../test/conformance/driver-suite.ts";
import { downloadWhole, type RecordingSession } from "../../../test/conformance/listener.ts";
import { describeOperations } from "../../../test/conformance/operation-suite.ts";
import type {
  ContactControls,
  ContactObservation,
  DriverHarnessOptions,
  NetworkControls,
  NetworkGroupView,
  OperationStage,
  PhoneControls,
} from "../../../test/conformance/stage.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { startSandboxNetwork, storeInMemory } from "../../../test/stories/sandbox-network.ts";
import type { Jid, MediaContent, MessageId, NetworkEvent } from "../driver.ts";
import { groupJid, newMessageId, phoneJid } from "../jid.ts";
import type { SandboxControl } from "../sandbox-control.ts";

const PHONE = "5511977771000";
const CONTACT = "5511977772000";
const GROUP = groupJid("120363000000000001");

let store: TestDatabase;

beforeAll(async () => {
  store = await createTestDatabase();
});

afterAll(() => store.drop());

async function startStage({ shortQr }: DriverHarnessOptions = {}): Promise<OperationStage> {
  const { driver, control, pool, pair, open, stop } = await startSandboxNetwork({
    store,
    ...(shortQr && { firstQrMs: 60, laterQrMs: 20 }),
  });
  return {
    driver,
    credentials: storeInMemory,
    phone: phoneOn(control, pair),
    contact: contactOn(shortQr ? open() : await pair(CONTACT), control),
    unregisteredJid: phoneJid("5511900000000"),
    world: networkControlsOf(control, pool),
    async countDeliveries(id) {
      const sends = "select from sandbox.ledger where action = 'send' and message_id = $1";
      return (await pool.query(sends, [id])).rows.length;
    },
    async expireFiles() {
      await pool.query("update sandbox.media set expires_at = now() - interval '1 second'");
    },
    stop,
  };
}

describeDriver("sandbox", startStage);
describeOperations("sandbox", startStage);

function phoneOn(control: SandboxControl, pair: (phone: string) => Promise<RecordingSession>): PhoneControls {
  let second: Promise<RecordingSession> | undefined;
  return {
    number: PHONE,
    scan: async (qr) => void (await control.scan(qr, PHONE)),
    enterCode: async (code) => void (await control.scan(code)),
    drop: async () => void (await control.drop(PHONE)),
    ban: async () => void (await control.ban(PHONE)),
    unlink: async () => void (await control.unlink(PHONE)),
    async star(id, starred) {
      // Another device of the same phone.
      second ??= pair(PHONE);
      const target = { chat: phoneJid(CONTACT), id, from_me: false };
      await (await second).session.star?.(target, starred, { id: newMessageId() });
    },
  };
}

// The contact is a session too, so the suite also tests two instances writing to each other.
function contactOn({ session, events }: RecordingSession, control: SandboxControl): ContactControls {
  const chat = phoneJid(PHONE);
  const target = (id: MessageId, from_me: boolean) => ({ chat, id, from_me });
  const fresh = () => ({ id: newMessageId() });
  return {
    jid: phoneJid(CONTACT),
    number: CONTACT,
    async sendMessage(content, { group } = {}) {
      if (group)
        return (await control.receive(PHONE, { from: CONTACT, group_jid: GROUP, content })) as MessageId;
      const id = newMessageId();
      await session.send(chat, content, { id });
      return id;
    },
    editMessage: async (id, text) => void (await session.edit?.(target(id, true), text, fresh())),
    deleteMessage: async (id) => void (await session.deleteForEveryone?.(target(id, true), fresh())),
    reactTo: async (id, reaction) => void (await session.react?.(target(id, false), reaction, fresh())),
    pin: async (id, seconds) => void (await session.pin?.(target(id, false), seconds, fresh())),
    markRead: async (id) => void (await session.markRead?.(chat, [target(id, false)])),
    postStory: async (text) => {
      const content = { kind: "text", text } as const;
      return (await control.postStatus(PHONE, { from: CONTACT, content })) as MessageId;
    },
    viewStory: async (id) => void (await control.viewStatus(PHONE, CONTACT, id)),
    stories: async () => events.flatMap((event) => (event.type === "status_received" ? [event] : [])),
    startPhoneCall: async () => void (await control.startPhoneCall(PHONE, { from: CONTACT })),
    observed: async () => events.flatMap(seenIn),
    async file(id) {
      const event = events.find((one) => one.type === "message" && one.message.id === id);
      const content = event?.type === "message" ? (event.message.content as MediaContent) : undefined;
      return downloadWhole(session, content?.ref);
    },
  };
}

function seenIn(event: NetworkEvent): ContactObservation[] {
  switch (event.type) {
    case "message":
      return [{ type: "message", id: event.message.id, content: event.message.content }];
    case "message_edited":
      return [{ type: "edited", id: event.id, text: event.text ?? "" }];
    case "message_deleted":
      return [{ type: "deleted", id: event.id }];
    case "message_reaction":
      return [{ type: "reaction", id: event.id, reaction: event.reaction }];
    case "message_pinned":
      return [{ type: "pinned", id: event.id, seconds: event.seconds }];
    case "message_status":
      return event.status === "read" || event.status === "played"
        ? [{ type: event.status, ids: event.ids }]
        : [];
    default:
      return [];
  }
}

let personCount = 0;

const PLAIN_PRODUCT = {
  description: null,
  price: null,
  currency: null,
  url: null,
  image_url: null,
  retailer_id: null,
  is_hidden: false,
};

function networkControlsOf(control: SandboxControl, pool: Pool): NetworkControls {
  const ask = async <Row extends object>(sql: string, ...values: unknown[]) =>
    (await pool.query<Row>(sql, values)).rows;
  return {
    async addPerson({ about, picture, refusesGroups, catalog: products } = {}) {
      personCount += 1;
      const number = `55119${String(60_000 + personCount).padStart(4, "0")}${refusesGroups ? "0006" : "1234"}`;
      const picture_url = picture && "https://pictures.example/1.jpg";
      const catalog = products?.map((product) => ({ ...PLAIN_PRODUCT, ...product })) ?? null;
      await control.setPerson(PHONE, number, { about, picture_url, catalog });
      return { number, jid: phoneJid(number) };
    },
    addGroup: (subject, [from = "", ...participants]) =>
      control.createGroup({ from, subject, participants, admins: [] }),
    group: (group) => viewGroup(ask, group),
    async changeGroup(by, group, change) {
      const result =
        "action" in change
          ? await control.changeParticipants(group, by, change.action, change.who)
          : await control.changeGroup(group, by, change);
      expect(result.outcome).toBe("done");
    },
    async joinGroup(by, group) {
      expect((await control.joinGroup(group, by)).outcome).toBe("done");
    },
    async phone() {
      const [profile] = await ask<{ name: string; about: string | null; picture: string | null }>(
        "select name, about, picture from sandbox.person where phone = $1",
        PHONE,
      );
      const blocked = await ask<{ phone: string }>(
        "select phone from sandbox.address_book where owner = $1 and is_blocked",
        PHONE,
      );
      const { name = null, about = null, picture = null } = profile ?? {};
      return { name, about, has_picture: picture !== null, blocked: blocked.map((row) => row.phone) };
    },
    chat: async (chat) => (await control.changeChat(PHONE, chat, {})) ?? {},
    changeChat: async (chat, change) => void (await control.changeChat(PHONE, chat, change)),
    async labels() {
      const rows = await ask<{ id: string; chat: string; message_id: string; name: string; color: number }>(
        "select id, chat, message_id, name, color from sandbox.label where owner = $1 order by chat, message_id",
        PHONE,
      );
      const isOn = (row: { chat: string }) => row.chat !== "";
      const on = (id: string) =>
        rows
          .filter((row) => row.id === id && isOn(row))
          .map(({ chat, message_id }) => (message_id === "" ? chat : `${chat}/${message_id}`));
      const labels = rows.filter((row) => !isOn(row));
      return Object.fromEntries(labels.map(({ id, name, color }) => [id, { name, color, on: on(id) }]));
    },
    changeLabel: async (label, isDeleted) => void (await control.changeLabel(PHONE, label, isDeleted)),
    assignLabel: async (assignment) => void (await control.assignLabel(PHONE, assignment)),
    nameContact: async (number, name) => void (await control.setPerson(PHONE, number, { name })),
    async contactName(number) {
      const [row] = await ask<{ name: string | null }>(
        "select name from sandbox.address_book where owner = $1 and phone = $2",
        PHONE,
        number,
      );
      return row?.name ?? null;
    },
    async showPresence(from, presence, group_jid) {
      const last_seen_at = presence === "unavailable" ? new Date() : null;
      expect(await control.showPresence(PHONE, { from, group_jid, presence, last_seen_at })).toBe(true);
    },
    rejectedPhoneCalls: async () =>
      (
        await ask<{ target_id: string }>(
          "select target_id from sandbox.ledger where action = 'reject_call' and phone = $1",
          PHONE,
        )
      ).map((row) => row.target_id),
  };
}

type Ask = <Row extends object>(sql: string, ...values: unknown[]) => Promise<Row[]>;

async function viewGroup(request: Ask, jid: Jid): Promise<NetworkGroupView> {
  const [group] = await request<NetworkGroupView>(
    `select subject, description, announce, locked, join_approval, members_can_add, invite,
       picture is not null as has_picture,
       (select coalesce(array_agg(phone order by requested_at), '{}') from sandbox.group_request where group_jid = jid) as requests
     from sandbox.group_chat where jid = $1`,
    jid,
  );
  if (!group) throw new Error(`There is no group ${jid}.`);
  const members = await request<{ phone: string; admin: string | null }>(
    "select phone, admin from sandbox.group_member where group_jid = $1",
    jid,
  );
  return {
    ...group,
    members: Object.fromEntries(members.map((one) => [one.phone, one.admin !== null])),
  };
}
