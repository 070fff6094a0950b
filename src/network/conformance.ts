import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type {
  Content,
  CredentialStore,
  Driver,
  Jid,
  MediaContent,
  MediaType,
  MessageId,
  NetworkEvent,
  OpenOptions,
  Session,
} from "./driver.ts";
import { newMessageId } from "./ids.ts";

/** The phone that the gateway is paired with. */
export interface PhoneControls {
  /** Digits. */
  readonly number: string;
  scan(qr: string): Promise<void>;
  enterCode(code: string): Promise<void>;
  /** The connection breaks. */
  drop(): Promise<void>;
  ban(): Promise<void>;
  /** The gateway is removed from the linked devices. */
  unlink(): Promise<void>;
}

/** What the contact saw of what the gateway did. */
export type Seen =
  | { type: "message"; id: MessageId; content: Content }
  | { type: "edited"; id: MessageId; text: string; media_type?: MediaType }
  | { type: "deleted"; id: MessageId }
  | { type: "reaction"; id: MessageId; reaction: string }
  | { type: "read"; ids: MessageId[] };

/** Somebody on the network who talks with the paired phone. */
export interface ContactControls {
  readonly jid: Jid;
  /** Digits. */
  readonly number: string;
  says(content: Content, options?: { group?: boolean }): Promise<MessageId>;
  edits(id: MessageId, text: string): Promise<void>;
  deletes(id: MessageId): Promise<void>;
  reacts(id: MessageId, reaction: string): Promise<void>;
  reads(id: MessageId): Promise<void>;
  calls(): Promise<void>;
  seen(): Promise<Seen[]>;
  /** The file of a message that the contact saw. */
  file(id: MessageId): Promise<Uint8Array | undefined>;
}

/** A driver with a network around it that a test can move. */
export interface Stage {
  readonly driver: Driver;
  /** A store with nothing in it. */
  credentials(): CredentialStore;
  readonly phone: PhoneControls;
  readonly contact: ContactControls;
  /** Somebody who is not on the network. */
  readonly nobody: Jid;
  /** How often a message with this id reached the network. */
  arrivals(id: MessageId): Promise<number>;
  /** The network forgets the files that it keeps. */
  expireFiles(): Promise<void>;
  stop(): Promise<void>;
}

export interface StageOptions {
  /** QRs that live for some tens of milliseconds only. */
  shortQr?: boolean;
}

/** An inbound file in one piece; undefined when it is gone. */
export async function fetchWhole(session: Session, ref: unknown): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  const end = await session.downloadMedia?.(ref, (chunk) => void chunks.push(chunk));
  return end === "done" ? Buffer.concat(chunks) : undefined;
}

type EventOf<Type extends NetworkEvent["type"]> = Extract<NetworkEvent, { type: Type }>;

const text = (words: string): Content => ({ kind: "text", text: words });

/** A session whose events are written down. */
export class Listener {
  readonly session: Session;
  readonly credentials: CredentialStore;
  readonly events: NetworkEvent[] = [];
  /** Runs before an event counts as stored. */
  gate: (event: NetworkEvent) => Promise<void> = async () => undefined;

  constructor(driver: Driver, credentials: CredentialStore, options: Partial<OpenOptions> = {}) {
    this.credentials = credentials;
    this.session = driver.open({
      account_id: 1,
      ...options,
      credentials,
      report: async (event) => {
        await this.gate(event);
        this.events.push(event);
      },
    });
  }

  /** Connects for the first time: the phone scans the QR. */
  async pair(phone: { scan(qr: string): Promise<unknown> }): Promise<void> {
    this.session.connect();
    await phone.scan((await this.heard("qr")).qr);
    await this.heard("connected");
  }

  all<Type extends NetworkEvent["type"]>(type: Type): EventOf<Type>[] {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }

  /** The nth event of a type, once it has come. */
  heard<Type extends NetworkEvent["type"]>(type: Type, nth = 1): Promise<EventOf<Type>> {
    return eventually(() => {
      const event = this.all(type)[nth - 1];
      expect(event, `${type} no. ${nth}`).toBeDefined();
      return event as EventOf<Type>;
    });
  }

  async message(id: MessageId): Promise<EventOf<"message">["message"]> {
    const event = await eventually(() => {
      const found = this.all("message").find((one) => one.message.id === id);
      expect(found, `message ${id}`).toBeDefined();
      return found as EventOf<"message">;
    });
    return event.message;
  }

  times(id: MessageId): number {
    return this.all("message").filter((one) => one.message.id === id).length;
  }
}

export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}

/** The one suite that every driver must pass; `start` puts up a network with nothing paired but the contact. */
export function describeDriver(name: string, start: (options?: StageOptions) => Promise<Stage>): void {
  describe(`${name} driver`, () => {
    let stage: Stage;
    let opened: Listener[];

    const open = (credentials = stage.credentials()): Listener => {
      const listener = new Listener(stage.driver, credentials);
      opened.push(listener);
      return listener;
    };

    const pair = async (): Promise<Listener> => {
      const listener = open();
      await listener.pair(stage.phone);
      return listener;
    };

    const send = async (listener: Listener, content: Content, id = newMessageId()): Promise<MessageId> => {
      const result = await listener.session.send(stage.contact.jid, content, { id });
      expect(result).toMatchObject({ outcome: "accepted", at: expect.any(Date) });
      return id;
    };

    const seen = <Type extends Seen["type"]>(type: Type): Promise<Extract<Seen, { type: Type }>> =>
      eventually(async () => {
        const found = (await stage.contact.seen()).filter((one) => one.type === type);
        expect(found, `the contact saw ${type}`).toHaveLength(1);
        return found[0] as Extract<Seen, { type: Type }>;
      });

    beforeEach(async () => {
      opened = [];
      stage = await start();
    });

    afterEach(async () => {
      await Promise.all(opened.map((listener) => listener.session.disconnect()));
      await stage.stop();
    });

    describe("pairing", () => {
      it("shows a QR, and is connected with the phone's identity once it is scanned", async () => {
        const listener = open();
        listener.session.connect();
        const { qr, attempt, max_attempts, expires_at } = await listener.heard("qr");
        expect([qr.length > 0, attempt, max_attempts > 1]).toEqual([true, 1, true]);
        expect(expires_at.getTime()).toBeGreaterThan(Date.now());
        await stage.phone.scan(qr);
        const { me } = await listener.heard("connected");
        expect(me).toMatchObject({
          jid: `${stage.phone.number}@s.whatsapp.net`,
          phone: stage.phone.number,
          lid: expect.stringMatching(/^\d+@lid$/),
        });
        expect(me.lid).not.toContain(stage.phone.number);
      });

      it("keeps the identity before it says that it is connected", async () => {
        const listener = open();
        let kept: Uint8Array | undefined;
        listener.gate = async (event) => {
          if (event.type === "connected") kept = await listener.credentials.load();
        };
        await listener.pair(stage.phone);
        expect(kept?.byteLength).toBeGreaterThan(0);
      });

      it("stays unpaired when the identity cannot be kept", async () => {
        const store = stage.credentials();
        const listener = open({ ...store, save: () => Promise.reject(new Error("another process owns it")) });
        listener.session.connect();
        await stage.phone.scan((await listener.heard("qr")).qr);
        const { will_retry } = await listener.heard("disconnected");
        expect([will_retry, listener.all("connected").length]).toEqual([false, 0]);
      });

      it("gives up after its budget of QRs, and starts again when asked to", async () => {
        await stage.stop();
        stage = await start({ shortQr: true });
        const listener = open();
        listener.session.connect();
        await listener.heard("qr_expired");
        const qrs = listener.all("qr");
        expect(qrs.map((one) => one.attempt)).toEqual(qrs.map((_, i) => i + 1));
        expect(qrs).toHaveLength(qrs[0]?.max_attempts ?? 0);
        expect(new Set(qrs.map((one) => one.qr)).size).toBe(qrs.length);
        listener.session.connect();
        expect((await listener.heard("qr", qrs.length + 1)).attempt).toBe(1);
      });

      it("gives a pairing code in place of a QR when it is told the phone", async () => {
        const listener = open();
        listener.session.connect({ pairingPhone: stage.phone.number });
        const { code } = await listener.heard("pairing_code");
        await stage.phone.enterCode(code);
        const { me } = await listener.heard("connected");
        expect([me.phone, listener.all("qr")]).toEqual([stage.phone.number, []]);
      });

      it("goes over from QRs to a pairing code when asked to", async () => {
        const listener = open();
        listener.session.connect();
        await listener.heard("qr");
        listener.session.connect({ pairingPhone: stage.phone.number });
        await stage.phone.enterCode((await listener.heard("pairing_code")).code);
        await listener.heard("connected");
        expect(listener.all("disconnected")).toEqual([]);
      });
    });

    describe("connection", () => {
      it("logs in with a kept identity and shows no QR", async () => {
        const first = await pair();
        await first.session.disconnect();
        const second = open(first.credentials);
        second.session.connect();
        const { me } = await second.heard("connected");
        expect([me.phone, second.all("qr")]).toEqual([stage.phone.number, []]);
      });

      it("connects once however often it is asked to", async () => {
        const listener = open();
        for (let i = 0; i < 3; i++) listener.session.connect();
        await stage.phone.scan((await listener.heard("qr")).qr);
        await listener.heard("connected");
        listener.session.connect();
        await listener.message(await stage.contact.says(text("still one?")));
        expect([listener.all("qr").length, listener.all("connected").length]).toEqual([1, 1]);
      });

      it("comes back by itself after the connection is lost", async () => {
        const listener = await pair();
        await stage.phone.drop();
        const lost = await listener.heard("disconnected");
        expect(lost).toMatchObject({ reason: "connection_lost", will_retry: true });
        await listener.heard("connected", 2);
        await send(listener, text("back"));
        expect(listener.all("qr")).toHaveLength(1);
      });

      it("gives way to a second session with the same identity and does not come back", async () => {
        const first = await pair();
        const second = open(first.credentials);
        second.session.connect();
        await second.heard("connected");
        const replaced = await first.heard("disconnected");
        expect(replaced).toMatchObject({ reason: "replaced", will_retry: false });
        const result = await first.session.send(stage.contact.jid, text("me too"), { id: newMessageId() });
        expect(result).toMatchObject({ outcome: "not_sent", is_offline: true });
        await second.message(await stage.contact.says(text("to the second")));
        expect(first.all("connected")).toHaveLength(1);
      });

      it("keeps the identity when it is disconnected, and sends nothing then", async () => {
        const listener = await pair();
        await listener.session.disconnect();
        expect(await listener.credentials.load()).toBeDefined();
        const result = await listener.session.send(stage.contact.jid, text("too late"), {
          id: newMessageId(),
        });
        expect(result).toMatchObject({ outcome: "not_sent", is_offline: true });
        listener.session.connect();
        await listener.heard("connected", 2);
      });

      it("forgets the identity on logout, and pairs anew", async () => {
        const listener = await pair();
        await listener.session.logout();
        expect(await listener.credentials.load()).toBeUndefined();
        expect(listener.all("logged_out")).toEqual([]);
        listener.session.connect();
        await listener.heard("qr", 2);
      });

      it("says so when the phone has unlinked it", async () => {
        const listener = await pair();
        await stage.phone.unlink();
        await listener.heard("logged_out");
        expect(await listener.credentials.load()).toBeUndefined();
      });

      it("hears at the next login that it was unlinked while it was away", async () => {
        const listener = await pair();
        await listener.session.disconnect();
        await stage.phone.unlink();
        listener.session.connect();
        await listener.heard("logged_out");
        expect(listener.all("connected")).toHaveLength(1);
      });

      it("says that it is banned and stays away", async () => {
        const listener = await pair();
        await stage.phone.ban();
        await listener.heard("banned");
        listener.session.connect();
        await listener.heard("banned", 2);
        expect(listener.all("connected")).toHaveLength(1);
      });
    });

    describe("sending", () => {
      it("delivers a text and hears how far it came", async () => {
        const listener = await pair();
        const id = await send(listener, text("Olá, 世界 👋"));
        expect(await seen("message")).toMatchObject({ id, content: text("Olá, 世界 👋") });
        const { ids, status, from_me, chat } = await listener.heard("message_status");
        expect([ids, status, from_me, chat]).toEqual([[id], "delivered", true, stage.contact.jid]);
        await stage.contact.reads(id);
        expect(await listener.heard("message_status", 2)).toMatchObject({ ids: [id], status: "read" });
      });

      it("delivers a repeated id once", async () => {
        const listener = await pair();
        const id = await send(listener, text("once"));
        await send(listener, text("once"), id);
        expect(await stage.arrivals(id)).toBe(2);
        const last = await send(listener, text("last"));
        const messages = await eventually(async () => {
          const all = (await stage.contact.seen()).filter((one) => one.type === "message");
          expect(all.at(-1)?.id).toBe(last);
          return all;
        });
        expect(messages.map((one) => one.id)).toEqual([id, last]);
      });

      it("is refused for somebody who is not on the network", async () => {
        const listener = await pair();
        const result = await listener.session.send(stage.nobody, text("hello?"), { id: newMessageId() });
        expect(result).toMatchObject({
          outcome: "refused",
          code: "RECIPIENT_NOT_FOUND",
          retryable: false,
        });
      });

      it("keeps the order of a chat", async () => {
        const listener = await pair();
        const ids: MessageId[] = [];
        for (let i = 0; i < 20; i++) ids.push(await send(listener, text(`no. ${i}`)));
        await eventually(async () => {
          const all = (await stage.contact.seen()).filter((one) => one.type === "message");
          expect(all.map((one) => one.id)).toEqual(ids);
        });
      });

      it("has not sent anything before it was ever paired", async () => {
        const listener = open();
        const result = await listener.session.send(stage.contact.jid, text("early"), { id: newMessageId() });
        expect(result.outcome).toBe("not_sent");
      });

      const contents: [string, Content][] = [
        [
          "a location",
          { kind: "location", latitude: -23.5, longitude: -46.6, name: "Sé", address: "Centro" },
        ],
        ["a contact", { kind: "contact", name: "Bia", phone: "5511999990001" }],
      ];
      it.each(contents)("delivers %s", async (_, content) => {
        const listener = await pair();
        await send(listener, content);
        expect((await seen("message")).content).toMatchObject(content);
      });

      it("delivers a file with its caption", async () => {
        const listener = await pair();
        const id = await send(listener, PICTURE);
        const { content } = await seen("message");
        expect(content).toMatchObject({ media_type: "image", mime_type: "image/png", caption: "A dot" });
        expect(Buffer.from((await stage.contact.file(id)) ?? [])).toEqual(Buffer.from(DOT));
      });

      it("delivers a reply with what it quotes", async () => {
        const listener = await pair();
        const asked = await stage.contact.says(text("Which one?"));
        await listener.message(asked);
        const quoted = { id: asked, from_me: false, sender: stage.contact.jid, text: "Which one?" };
        await send(listener, { ...text("The red one"), quoted });
        expect((await seen("message")).content.quoted).toMatchObject({ id: asked, from_me: true });
      });

      it("edits, takes back and reacts", async () => {
        const listener = await pair();
        const { session } = listener;
        const id = await send(listener, text("Helo"));
        const target = { chat: stage.contact.jid, id, from_me: true };
        const results = [
          await session.edit?.(target, "Hello", { id: newMessageId() }),
          await session.react?.(target, "👍", { id: newMessageId() }),
          await session.deleteForEveryone?.(target, { id: newMessageId() }),
        ];
        expect(results.map((one) => one?.outcome)).toEqual(["accepted", "accepted", "accepted"]);
        expect(await seen("edited")).toEqual({ type: "edited", id, text: "Hello" });
        expect(await seen("reaction")).toEqual({ type: "reaction", id, reaction: "👍" });
        expect(await seen("deleted")).toEqual({ type: "deleted", id });
      });

      it("marks as read, and shows its presence", async () => {
        const listener = await pair();
        const { session } = listener;
        const id = await stage.contact.says(text("Seen?"));
        await listener.message(id);
        const read = await session.markRead?.(stage.contact.jid, [
          { chat: stage.contact.jid, id, from_me: false },
        ]);
        expect(read?.outcome).toBe("accepted");
        expect((await seen("read")).ids).toEqual([id]);
        expect((await session.setPresence?.("typing", stage.contact.jid))?.outcome).toBe("accepted");
      });
    });

    describe("receiving", () => {
      it("reports a text once, with who wrote it", async () => {
        const listener = await pair();
        const id = await stage.contact.says(text("Oi!"));
        const message = await listener.message(id);
        expect(message).toMatchObject({
          chat: stage.contact.jid,
          chat_type: "contact",
          from_me: false,
          sender: {
            jid: stage.contact.jid,
            phone: stage.contact.number,
            lid: expect.stringMatching(/@lid$/),
          },
          content: text("Oi!"),
          at: expect.any(Date),
        });
        expect(message.offline).toBeUndefined();
        // The network brings the next one of a chat only when it knows that the one before has come.
        await listener.message(await stage.contact.says(text("Next")));
        await stage.phone.drop();
        await listener.heard("connected", 2);
        await listener.message(await stage.contact.says(text("More")));
        expect(listener.times(id)).toBe(1);
      });

      it("reports again what was not stored when the connection broke", async () => {
        const listener = await pair();
        let held = 0;
        listener.gate = async (event) => {
          if (event.type !== "message" || held > 0) return;
          held++;
          await new Promise(() => undefined);
        };
        const id = await stage.contact.says(text("Hold me"));
        await eventually(() => expect(held).toBe(1));
        await stage.phone.drop();
        const message = await listener.message(id);
        expect(message).toMatchObject({ id, offline: true });
      });

      it("reports again what the gateway failed to store", async () => {
        const listener = await pair();
        let failures = 0;
        let isAway = true;
        listener.gate = async (event) => {
          if (event.type !== "message" || !isAway) return;
          failures++;
          throw new Error("the database is away");
        };
        const id = await stage.contact.says(text("Try again"));
        await eventually(() => expect(failures).toBeGreaterThan(0));
        await stage.phone.drop();
        await listener.heard("disconnected");
        isAway = false;
        await listener.message(id);
        expect(listener.times(id)).toBe(1);
      });

      it("keeps the order of a chat, also when some reports take long", async () => {
        const listener = await pair();
        let nth = 0;
        listener.gate = async (event) => {
          if (event.type === "message") await new Promise((done) => setTimeout(done, nth++ % 3));
        };
        const ids: MessageId[] = [];
        for (let i = 0; i < 20; i++) ids.push(await stage.contact.says(text(`no. ${i}`)));
        await eventually(() => expect(listener.all("message").map((one) => one.message.id)).toEqual(ids));
      });

      it("reports what waited while it was away, in order", async () => {
        const listener = await pair();
        await listener.session.disconnect();
        const ids = [await stage.contact.says(text("one")), await stage.contact.says(text("two"))];
        listener.session.connect();
        await eventually(() => {
          const messages = listener.all("message").map(({ message }) => [message.id, message.offline]);
          expect(messages).toEqual(ids.map((id) => [id, true]));
        });
      });

      it("reports a message of a group with its writer", async () => {
        const listener = await pair();
        const id = await stage.contact.says(text("Hi all"), { group: true });
        const message = await listener.message(id);
        expect(message.chat).toMatch(/@g\.us$/);
        expect(message).toMatchObject({ chat_type: "group", sender: { phone: stage.contact.number } });
      });

      it.each<[string, Content]>([
        ["a location", { kind: "location", latitude: 1.5, longitude: 2.5 }],
        ["a contact", { kind: "contact", name: "Bia", phone: "5511999990001" }],
      ])("reports %s", async (_, content) => {
        const listener = await pair();
        const message = await listener.message(await stage.contact.says(content));
        expect(message.content).toMatchObject(content);
      });

      it("reports a file, whose bytes can be fetched until the network forgets them", async () => {
        const listener = await pair();
        const { content } = await listener.message(await stage.contact.says(PICTURE));
        expect(content).toMatchObject({ kind: "media", media_type: "image", caption: "A dot", size: 4 });
        const ref = structuredClone((content as MediaContent).ref);
        expect(await fetchWhole(listener.session, ref)).toEqual(Buffer.from(DOT));
        await stage.expireFiles();
        expect(await fetchWhole(listener.session, ref)).toBeUndefined();
      });

      it("reports a reply with what it quotes", async () => {
        const listener = await pair();
        const id = await send(listener, text("Red or blue?"));
        const quoted = { id, from_me: false, text: "Red or blue?" };
        const { content } = await listener.message(await stage.contact.says({ ...text("Blue"), quoted }));
        expect(content.quoted).toMatchObject({ id, from_me: true, text: "Red or blue?" });
      });

      it("reports edits, deletions, reactions and calls", async () => {
        const listener = await pair();
        const id = await stage.contact.says(text("Helo"));
        await stage.contact.edits(id, "Hello");
        await stage.contact.deletes(id);
        const mine = await send(listener, text("mine"));
        await stage.contact.reacts(mine, "❤️");
        await stage.contact.calls();
        const by = { phone: stage.contact.number };
        const chat = stage.contact.jid;
        expect(await listener.heard("message_edited")).toMatchObject({ chat, id, text: "Hello", by });
        expect(await listener.heard("message_deleted")).toMatchObject({ chat, id, from_me: false, by });
        expect(await listener.heard("message_reaction")).toMatchObject({
          chat,
          id: mine,
          from_me: true,
          reaction: "❤️",
          by,
        });
        expect((await listener.heard("call_received")).from.phone).toBe(stage.contact.number);
      });
    });
  });
}

const DOT = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);
const PICTURE: MediaContent = {
  kind: "media",
  media_type: "image",
  mime_type: "image/png",
  file_name: "dot.png",
  caption: "A dot",
  size: DOT.byteLength,
  bytes: DOT,
};
