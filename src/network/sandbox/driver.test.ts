import { afterAll, beforeAll } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { keepInMemory, startSandboxNetwork } from "../../../test/sandbox-network.ts";
import {
  type ContactControls,
  describeDriver,
  type Listener,
  type PhoneControls,
  type Seen,
  type Stage,
} from "../conformance.ts";
import type { MediaContent, MessageId, NetworkEvent } from "../driver.ts";
import { groupJid, newMessageId, phoneJid } from "../ids.ts";
import type { SandboxControl } from "../sandbox-control.ts";

const PHONE = "5511977771000";
const CONTACT = "5511977772000";
const GROUP = groupJid("120363000000000001");

let store: TestDatabase;

beforeAll(async () => {
  store = await createTestDatabase();
});

afterAll(() => store.drop());

describeDriver("sandbox", async ({ shortQr } = {}): Promise<Stage> => {
  const { driver, control, pool, pair, open, stop } = await startSandboxNetwork({
    store,
    ...(shortQr && { firstQrMs: 60, laterQrMs: 20 }),
  });
  return {
    driver,
    credentials: keepInMemory,
    phone: phoneOn(control),
    contact: contactOn(shortQr ? open() : await pair(CONTACT), control),
    nobody: phoneJid("5511900000000"),
    async arrivals(id) {
      const sends = "select from sandbox.ledger where action = 'send' and message_id = $1";
      return (await pool.query(sends, [id])).rows.length;
    },
    async expireFiles() {
      await pool.query("update sandbox.media set expires_at = now() - interval '1 second'");
    },
    stop,
  };
});

function phoneOn(control: SandboxControl): PhoneControls {
  return {
    number: PHONE,
    scan: async (qr) => void (await control.scan(qr, PHONE)),
    enterCode: async (code) => void (await control.scan(code)),
    drop: async () => void (await control.drop(PHONE)),
    ban: async () => void (await control.ban(PHONE)),
    unlink: async () => void (await control.unlink(PHONE)),
  };
}

// The contact is a session of its own, so that the suite also shows two instances writing to each other.
function contactOn({ session, events }: Listener, control: SandboxControl): ContactControls {
  const chat = phoneJid(PHONE);
  const target = (id: MessageId, from_me: boolean) => ({ chat, id, from_me });
  const fresh = () => ({ id: newMessageId() });
  return {
    jid: phoneJid(CONTACT),
    number: CONTACT,
    async says(content, { group } = {}) {
      if (group)
        return (await control.receive(PHONE, { from: CONTACT, group_jid: GROUP, content })) as MessageId;
      const id = newMessageId();
      await session.send(chat, content, { id });
      return id;
    },
    edits: async (id, text) => void (await session.edit?.(target(id, true), text, fresh())),
    deletes: async (id) => void (await session.deleteForEveryone?.(target(id, true), fresh())),
    reacts: async (id, reaction) => void (await session.react?.(target(id, false), reaction, fresh())),
    reads: async (id) => void (await session.markRead?.(chat, [target(id, false)])),
    calls: async () => void (await control.call(PHONE, { from: CONTACT })),
    seen: async () => events.flatMap(seenIn),
    async file(id) {
      const event = events.find((one) => one.type === "message" && one.message.id === id);
      const content = event?.type === "message" ? (event.message.content as MediaContent) : undefined;
      return session.downloadMedia?.(content?.ref);
    },
  };
}

function seenIn(event: NetworkEvent): Seen[] {
  switch (event.type) {
    case "message":
      return [{ type: "message", id: event.message.id, content: event.message.content }];
    case "message_edited":
      return [{ type: "edited", id: event.id, text: event.text }];
    case "message_deleted":
      return [{ type: "deleted", id: event.id }];
    case "message_reaction":
      return [{ type: "reaction", id: event.id, reaction: event.reaction }];
    case "message_status":
      return event.status === "read" ? [{ type: "read", ids: event.ids }] : [];
    default:
      return [];
  }
}
