import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../test/conformance/listener.ts";
import {
  createDriver,
  type MemoryCredentials,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
} from "../../../../test/whatsapp-stage.ts";
import type { Jid, MessageId, NetworkEvent, PairingChange, PairingStore, Session } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";
import { isUndecrypted } from "../../network-message.ts";
import type { WhatsAppDriver } from "../whatsapp-driver.ts";

/** `WAYGATE_PROOF=full`: 1,254 messages and more than 50 kills each. */
const ROUNDS = process.env.WAYGATE_PROOF === "full" ? 57 : 12;
const POINTS = ["before", "after", "receipt", "handler-before", "handler-after", "receipt-lost"] as const;
type Point = (typeof POINTS)[number];
/**
 * Points of a gateway that records messages in the commit of their Signal session state. It may die before the lost
 * receipt; the network then loses one of the next round. By the third round the phone's own messages are handled.
 */
const RECORDING_POINTS: readonly Point[] = ["before", "after", "receipt-lost", "receipt"];
/** Every so many commits it cannot record the messages, and reports them from the journal. */
const UNRECORDED_EVERY = 5;

/** A gateway whose process can be killed at any point. Only stored data survive. */
class Gateway {
  readonly stage: WhatsAppStage;
  readonly credentials: MemoryCredentials = storeInMemory();
  /** The log of messages, by its unique key. */
  readonly log = new Map<string, { text: string; unreadable: boolean }>();
  readonly events: NetworkEvent[] = [];
  readonly points: readonly Point[];
  refused = 0;
  kills = 0;
  /** Number of commits with messages. */
  recordings = 0;
  session: Session | undefined;
  #driver: WhatsAppDriver | undefined;
  #kill: { point: Point; left: number } | undefined;

  readonly #isRecording: boolean;

  constructor(stage: WhatsAppStage, { isRecording = false } = {}) {
    this.stage = stage;
    this.#isRecording = isRecording;
    this.points = isRecording ? RECORDING_POINTS : POINTS;
  }

  start(): Session {
    const driver = createDriver(this.stage.server, {});
    this.#driver = driver;
    const isAlive = () => this.#driver === driver;
    const report = async (event: NetworkEvent): Promise<void> => {
      if (!isAlive()) throw new Error("killed");
      if (event.type === "message") await this.#reach("handler-before");
      if (!isAlive()) return new Promise(() => undefined);
      this.#store(event);
      if (event.type === "message") await this.#reach("handler-after");
    };
    const { keys } = this.credentials;
    const commit: typeof keys.commit = async (change) => {
      if (!isAlive()) return new Promise(() => undefined);
      const isInbound = change.journal_entries.some((entry) => !entry.is_done);
      if (isInbound) await this.#reach("before");
      if (!isAlive()) return new Promise(() => undefined);
      const result = await keys.commit(change);
      if (isInbound) await this.#reach("after");
      return isAlive() ? result : new Promise(() => undefined);
    };
    const commitWithMessages: PairingStore["commitWithMessages"] = async (change, messages) => {
      if (!isAlive()) return new Promise(() => undefined);
      if (++this.recordings % UNRECORDED_EVERY === 0) return "unrecorded";
      await this.#reach("before");
      if (!isAlive()) return new Promise(() => undefined);
      const result = await keys.commit(change);
      for (const message of messages) this.#store({ type: "message", message });
      await this.#reach("after");
      return isAlive() ? result : new Promise(() => undefined);
    };
    this.session = driver.open({
      account_id: 1,
      credentials: {
        ...this.credentials,
        keys: { ...keys, commit, ...(this.#isRecording && { commitWithMessages }) },
      },
      report,
    });
    this.session.connect();
    return this.session;
  }

  async pair(): Promise<void> {
    this.start();
    const qr = await eventually(() => {
      const event = this.events.find((one) => one.type === "qr");
      return event?.type === "qr" ? event.qr : expect.fail("no QR yet");
    });
    await this.stage.phone.scan(qr);
    await this.online();
  }

  async online(): Promise<void> {
    const before = this.events.length;
    await eventually(() => {
      const last = this.events.findLast(({ type }) => type === "connected" || type === "disconnected");
      expect([last?.type, before >= 0]).toEqual(["connected", true]);
    });
  }

  /** Dies at the nth pass of the point, and restarts at once. */
  async killAt(point: Point, nth: number): Promise<void> {
    if (point === "receipt-lost") {
      await this.stage.control.fault({ fault: "receipt_lost", phone: this.stage.phone.number });
      this.#kill = { point: this.#isRecording ? "after" : "handler-after", left: nth };
    } else this.#kill = { point, left: nth };
  }

  stop(): void {
    this.#kill = undefined;
    this.#driver?.terminate();
    this.#driver = undefined;
  }

  kill(): void {
    this.kills++;
    this.stop();
    this.events.length = 0;
    this.start();
  }

  /** Texts by chat in the order of storage. */
  textsPerChat(): Map<string, string[]> {
    const texts = new Map<string, string[]>();
    for (const [key, { text }] of this.log) {
      const [chat = ""] = key.split(" ");
      texts.set(chat, [...(texts.get(chat) ?? []), text]);
    }
    return texts;
  }

  async #reach(point: Point): Promise<void> {
    if (this.#kill?.point === "receipt" && point === "after" && --this.#kill.left === 0) {
      // The receipt is sent in the turns after the commit.
      setImmediate(() => this.kill());
    }
    if (this.#kill?.point !== point || --this.#kill.left > 0) return;
    this.kill();
    await new Promise(() => undefined);
  }

  #store(event: NetworkEvent): void {
    this.events.push(event);
    if (event.type !== "message") return;
    const { chat, id, content } = event.message;
    const unreadable = isUndecrypted(event.message);
    const key = `${chat} ${id}`;
    const known = this.log.get(key);
    if (known && (!known.unreadable || unreadable)) {
      this.refused++;
      return;
    }
    this.log.set(key, { text: content.kind === "text" ? content.text : content.kind, unreadable });
  }
}

/** Expects that every message was decrypted at its first attempt, and that the kills made the network repeat some. */
async function expectCleanKills({ stage, log, kills }: Gateway): Promise<void> {
  expect([...log.values()].filter(({ unreadable }) => unreadable)).toEqual([]);
  const { deliveries } = await stage.control.ledger();
  const own = deliveries.filter(({ phone }) => phone === stage.phone.number);
  expect(own.filter(({ retries, nacked }) => retries > 0 || nacked !== undefined)).toEqual([]);
  await eventually(async () => expect(await stage.control.waiting(stage.phone.number)).toBe(0));
  expect(kills).toBeGreaterThanOrEqual(ROUNDS);
  expect(own.filter((one) => one.sent > 1).length).toBeGreaterThan(ROUNDS / 3);
}

/** Pseudo-random numbers, the same in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe.each([
  ["reported from the journal", false],
  ["recorded in the commit of their Signal session state", true],
])("messages from the network that are %s", (_, isRecording) => {
  let stage: WhatsAppStage;
  let gateway: Gateway;

  beforeEach(async () => {
    stage = await startWhatsAppStage();
    gateway = new Gateway(stage, { isRecording });
    await gateway.pair();
  });

  afterEach(async () => {
    gateway.stop();
    await stage.stop();
  });

  it("of ten people and a group are all stored once and in the order of their chat, wherever the process is killed", {
    timeout: ROUNDS * 15_000,
  }, async () => {
    const { control, phone, contact } = stage;
    const below = sequence(13);
    const people = await Promise.all(Array.from({ length: 10 }, () => control.addPerson()));
    const { jid: group } = await control.addGroup("Team", [
      contact.number,
      phone.number,
      people[0]?.phone ?? "",
    ]);
    const sent = new Map<string, string[]>();
    const say = async (from: string, to: string, chat: string): Promise<void> => {
      const texts = sent.get(chat) ?? [];
      sent.set(chat, texts);
      const text = `${chat} no. ${texts.length}`;
      texts.push(text);
      await control.sendMessage(from, to, text);
    };
    gateway.credentials.beforeCommit = () => new Promise((done) => setTimeout(done, 3));
    for (let round = 0; round < ROUNDS; round++) {
      const point = gateway.points[round % gateway.points.length] ?? "before";
      await gateway.killAt(point, 1 + below(4));
      for (let i = 0; i < 2; i++) {
        await Promise.all(people.map(({ phone: from, jid }) => say(from, phone.number, jid)));
        // The same person writes to the group and directly.
        await say(people[0]?.phone ?? "", group, group);
      }
      const count = [...sent.values()].flat().length;
      await eventually(() => expect(gateway.log.size).toBe(count));
      if (gateway.kills <= round) gateway.kill();
      await gateway.online();
    }
    expect(gateway.textsPerChat()).toEqual(sent);
    await expectCleanKills(gateway);
  });

  it("are stored once after the database was unavailable, and get no receipt before", async () => {
    let isAway = true;
    let tries = 0;
    gateway.credentials.beforeCommit = async () => {
      tries += 1;
      if (isAway) throw new Error("the database is unavailable");
    };
    const ids = [await stage.contact.sendMessage({ kind: "text", text: "one" })];
    ids.push(await stage.contact.sendMessage({ kind: "text", text: "two" }));
    await eventually(() => expect(tries).toBeGreaterThan(2));
    const { deliveries } = await stage.control.ledger();
    const receipts = ids.map((id) => deliveries.find((one) => one.id === id)?.receipted_at);
    expect([gateway.log.size, receipts]).toEqual([0, [undefined, undefined]]);
    isAway = false;
    await eventually(() => expect([...gateway.log.keys()].map((key) => key.split(" ")[1])).toEqual(ids));
    await eventually(async () => expect(await stage.control.waiting(stage.phone.number)).toBe(0));
    expect(gateway.refused).toBe(0);
  });

  it("that cannot be decrypted leave a record, and are stored when they are sent again", async () => {
    const id = await stage.control.sendMessage(stage.contact.number, stage.phone.number, "Olá", {
      corrupt: true,
    });
    const traces: boolean[] = [];
    await eventually(() => {
      const messages = gateway.events.flatMap((event) => (event.type === "message" ? [event.message] : []));
      traces.splice(0, traces.length, ...messages.map((one) => isUndecrypted(one)));
      expect(messages.map((one) => one.id)).toEqual([id, id]);
    });
    expect(traces).toEqual([true, false]);
    expect([...gateway.log.values()]).toEqual([{ text: "Olá", unreadable: false }]);
    await stage.contact.sendMessage({ kind: "text", text: "and on" });
    await eventually(() => expect(gateway.log.size).toBe(2));
  });
});

describe("messages to the network", () => {
  let stage: WhatsAppStage;
  let gateway: Gateway;

  beforeEach(async () => {
    stage = await startWhatsAppStage();
    gateway = new Gateway(stage);
    await gateway.pair();
  });

  afterEach(async () => {
    gateway.stop();
    await stage.stop();
  });

  it.each([
    ["a person", false],
    ["a group", true],
  ])(
    "to %s can all be decrypted, also after a kill during the send",
    { timeout: 180_000 },
    async (_, isGroup) => {
      const { contact, control, phone } = stage;
      const group = isGroup
        ? (await control.addGroup("Team", [phone.number, contact.number])).jid
        : undefined;
      const to = (group ?? contact.jid) as Jid;
      // Everything written after the send is lost with the process.
      gateway.credentials.beforeCommit = () => new Promise((done) => setTimeout(done, 3));
      const ids: MessageId[] = [];
      for (let round = 0; round < 4; round++) {
        for (const nth of ["first", "second"]) {
          const id = newMessageId();
          ids.push(id);
          void gateway.session?.send(to, { kind: "text", text: `${nth} of ${round}` }, { id });
          await eventually(async () => expect(await stage.countDeliveries(id)).toBeGreaterThan(0));
          if (nth === "first") {
            gateway.kill();
            await gateway.online();
          }
        }
      }
      await eventually(async () => {
        const seen = (await contact.observed()).filter((one) => one.type === "message");
        expect(new Set(seen.map(({ id }) => id))).toEqual(new Set(ids));
      });
      const { decryptions } = await control.ledger();
      expect(decryptions.filter(({ error }) => error !== undefined)).toEqual([]);
    },
  );

  it("to several contacts share their commits, and none is sent before its own commit", async () => {
    const { control } = stage;
    const identities = await Promise.all(Array.from({ length: 6 }, () => control.addPerson()));
    const sendAll = () =>
      identities.map(({ jid }) => {
        const id = newMessageId();
        const content = { kind: "text", text: "Hi" } as const;
        return { id, result: gateway.session?.send(jid as Jid, content, { id }) };
      });
    await Promise.all(sendAll().map(({ result }) => result));
    let commits = 0;
    let open = () => {};
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    gateway.credentials.beforeCommit = () => {
      commits++;
      return isOpen;
    };
    const sends = sendAll();
    await eventually(() => expect(commits).toBeGreaterThan(0));
    // The server handles a connection in order, so a message sent before this query has arrived.
    await gateway.session?.contacts?.blocked();
    expect(await Promise.all(sends.map(({ id }) => stage.countDeliveries(id)))).toEqual(
      identities.map(() => 0),
    );
    open();
    const results = await Promise.all(sends.map(({ result }) => result));
    expect(results.map((result) => result?.outcome)).toEqual(identities.map(() => "accepted"));
    expect(commits).toBeLessThan(identities.length);
  });
});

describe("a session that both contacts establish at once", () => {
  it("starts a new conversation without breaking the existing one", { timeout: 180_000 }, async () => {
    const stage = await startWhatsAppStage();
    const gateway = new Gateway(stage);
    await gateway.pair();
    const { contact, control } = stage;
    for (let round = 0; round < 3; round++) {
      gateway.kill();
      await gateway.online();
      // As after a long time: the contact's devices are queried, and a new session begins.
      for (const name of gateway.credentials.texts.keys()) {
        if (name.startsWith("devices ")) gateway.credentials.texts.delete(name);
      }
      const saying = Array.from({ length: 6 }, (_, i) =>
        contact.sendMessage({ kind: "text", text: `${round} ${i}` }),
      );
      const content = { kind: "text", text: `out ${round}` } as const;
      const sending = [0, 1].map(() => gateway.session?.send(contact.jid, content, { id: newMessageId() }));
      await Promise.all([...saying, ...sending]);
      await eventually(() => expect(gateway.log.size).toBe((round + 1) * 6));
    }
    const { decryptions, deliveries } = await control.ledger();
    expect(decryptions.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(deliveries.filter(({ retries }) => retries > 0)).toEqual([]);
    gateway.stop();
    await stage.stop();
  });
});

describe("first conversations that both contacts start at the same moment", () => {
  it("continue both ways, and no message is requested again", { timeout: 180_000 }, async () => {
    const stage = await startWhatsAppStage();
    const gateway = new Gateway(stage);
    await gateway.pair();
    const { control, phone } = stage;
    gateway.credentials.beforeCommit = () => new Promise((done) => setTimeout(done, 10));
    const identities = await Promise.all(Array.from({ length: 6 }, () => control.addPerson()));
    const early = Array.from({ length: 4 }, (_, i) => `early ${i}`);
    const rounds = Array.from({ length: 8 }, (_, i) => i);
    // Queued messages were sent before the gateway's own, and are read after it.
    gateway.stop();
    for (const person of identities)
      for (const text of early) await control.sendMessage(person.phone, phone.number, text);
    gateway.events.length = 0;
    gateway.start();
    await gateway.online();
    await Promise.all(
      identities.map(async (person) => {
        for (const i of rounds) {
          const content = { kind: "text", text: `out ${i}` } as const;
          const [result] = await Promise.all([
            gateway.session?.send(person.jid as Jid, content, { id: newMessageId() }),
            control.sendMessage(person.phone, phone.number, `in ${i}`),
          ]);
          expect(result?.outcome).toBe("accepted");
        }
      }),
    );
    const all = identities.length * rounds.length;
    await eventually(() => expect(gateway.log.size).toBe(all + identities.length * early.length));
    await eventually(async () => {
      const seen = await Promise.all(identities.map((person) => control.seen(person.phone)));
      expect(seen.flat().filter(({ type }) => type === "message")).toHaveLength(all);
    });
    const { decryptions, deliveries } = await control.ledger();
    expect(decryptions.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(deliveries.filter(({ retries }) => retries > 0)).toEqual([]);
    gateway.stop();
    await stage.stop();
  });
});

describe("several instances with one contact", () => {
  it("never store a message without its Signal session state, however slow the key reads are", {
    timeout: 180_000,
  }, async () => {
    const stage = await startWhatsAppStage();
    const { contact, control } = stage;
    const phones = [stage.phone.number];
    for (let i = 0; i < 2; i++) phones.push((await control.addPerson()).phone);
    const gateways = phones.map(
      (number) =>
        new Gateway({
          ...stage,
          phone: { ...stage.phone, number, scan: async (qr) => void (await control.scan(number, qr)) },
        }),
    );
    const torn: string[] = [];
    for (const gateway of gateways) {
      const { credentials } = gateway;
      const { commit } = credentials.keys;
      Object.assign(credentials.keys, {
        commit: (change: PairingChange) => {
          const arrives = change.journal_entries.some((entry) => !entry.is_done);
          if (arrives && !change.keys.some(({ kind }) => kind === "session"))
            torn.push(JSON.stringify(change));
          return commit(change);
        },
      });
      await gateway.pair();
      credentials.beforeRead = () => new Promise((done) => setTimeout(done, 2));
    }
    const rounds = Array.from({ length: 25 }, (_, i) => i);
    await Promise.all(
      gateways.flatMap((gateway, nth) =>
        rounds.map(async (i) => {
          await control.sendMessage(contact.number, phones[nth] ?? "", `in ${i}`);
          const id = newMessageId();
          const content = { kind: "text", text: `out ${nth} ${i}` } as const;
          expect((await gateway.session?.send(contact.jid, content, { id }))?.outcome).toBe("accepted");
        }),
      ),
    );
    await eventually(() => expect(gateways.map(({ log }) => log.size)).toEqual([25, 25, 25]));
    await eventually(async () => {
      expect((await contact.observed()).filter((one) => one.type === "message")).toHaveLength(75);
    });
    expect(torn).toEqual([]);
    const { decryptions, deliveries } = await control.ledger();
    expect(decryptions.filter(({ error }) => error !== undefined)).toEqual([]);
    expect(deliveries.filter(({ retries }) => retries > 0)).toEqual([]);
    for (const gateway of gateways) gateway.stop();
    await stage.stop();
  });
});
