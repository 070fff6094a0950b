import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import type { PersonInfo } from "../../../../test/whatsapp-server/control.ts";
import {
  type MemoryCredentials,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
} from "../../../../test/whatsapp-stage.ts";
import { isUndecrypted } from "../../network-message.ts";

const PEOPLE = 6;

let stage: WhatsAppStage;
let credentials: MemoryCredentials;
let people: PersonInfo[];

beforeEach(async () => {
  stage = await startWhatsAppStage();
  credentials = storeInMemory();
  people = await Promise.all(Array.from({ length: PEOPLE }, () => stage.control.addPerson()));
  const listener = stage.open({}, { credentials });
  await listener.pair(stage.phone);
  await Promise.all(people.map((one) => say(one, "hello")));
  await eventually(() => expect(listener.all("message")).toHaveLength(PEOPLE));
  await listener.session.disconnect();
});

afterEach(() => stage.stop());

const say = ({ phone }: PersonInfo, text: string, corrupt = false): Promise<string> =>
  stage.control.sendMessage(phone, stage.phone.number, text, { corrupt });

/** A session of a new process. */
const reconnect = async (): Promise<RecordingSession> => {
  const listener = stage.open({ egress: { lookup: failLookup } }, { credentials });
  listener.session.connect();
  await listener.waitForEvent("connected");
  return listener;
};

/** History files would come from WhatsApp's own host. */
const failLookup: LookupFunction = (_, __, callback) => callback(new Error("There is no such host."), "");

const textsOf = (listener: RecordingSession) =>
  listener.all("message").map(({ message: { content } }) => (content.kind === "text" ? content.text : ""));

/** Reads of our pre-keys, which only the first message of a person needs, wait until `release` is called. */
const holdFirstMessages = (): { isHeld(): boolean; release(): void } => {
  let release = () => {};
  let isHeld = false;
  const released = new Promise<void>((done) => {
    release = done;
  });
  const { read } = credentials.keys;
  credentials.keys.read = async (kind, ids) => {
    if (kind === "pre-key") {
      isHeld = true;
      await released;
    }
    return read(kind, ids);
  };
  return { isHeld: () => isHeld, release };
};

describe("messages of several chats", () => {
  it("do not wait for one whose keys take long to read", async () => {
    const listener = await reconnect();
    const first = holdFirstMessages();
    await say(await stage.control.addPerson(), "slow");
    await eventually(() => expect(first.isHeld()).toBe(true));
    for (const one of people) await say(one, "quick");
    await eventually(() => expect(textsOf(listener)).toEqual(people.map(() => "quick")));
    first.release();
    await eventually(() => expect(textsOf(listener).at(-1)).toBe("slow"));
  });

  it("share commits", async () => {
    const listener = await reconnect();
    const perCommit: number[] = [];
    const { commit } = credentials.keys;
    credentials.keys.commit = async (change) => {
      perCommit.push(change.journal_entries.filter((entry) => !entry.is_done).length);
      await sleep(20);
      return commit(change);
    };
    let sent = 0;
    await eventually(async () => {
      sent += PEOPLE;
      await Promise.all(people.map((one) => say(one, "together")));
      expect(Math.max(...perCommit)).toBeGreaterThan(1);
    });
    await eventually(() => expect(textsOf(listener)).toHaveLength(sent));
  });

  it("are handled while an undecryptable one is requested again", async () => {
    const listener = await reconnect();
    const [unlucky, ...others] = people as [PersonInfo, ...PersonInfo[]];
    const id = await say(unlucky, "broken", true);
    const reports = () =>
      listener.all("message").flatMap(({ message }) => (message.id === id ? [isUndecrypted(message)] : []));
    for (let round = 1; reports().length < 2 || round < 5; round++) {
      await Promise.all(others.map((one) => say(one, `no. ${round}`)));
      await eventually(() =>
        expect(textsOf(listener).filter((text) => text === `no. ${round}`)).toHaveLength(others.length),
      );
    }
    expect(reports()).toEqual([true, false]);
  });
});

describe("a message of our own phone to its devices", () => {
  it("is handled after all earlier messages and before all later ones", async () => {
    const [other] = people as [PersonInfo];
    const { control, phone } = stage;
    const listener = await reconnect();
    const first = holdFirstMessages();
    await control.clearLedger();
    const before = await say(await control.addPerson(), "before");
    await eventually(() => expect(first.isHeld()).toBe(true));
    await control.sendHistoryFile(phone.number, []);
    const after = await say(other, "after");
    const receipts = async () => {
      const given = (await control.ledger()).receipts.filter((one) => one.phone === phone.number);
      return given.flatMap(({ type, ids }) =>
        type === "hist_sync" ? [] : type === "peer_msg" ? [type] : ids,
      );
    };
    first.release();
    await eventually(() => expect(textsOf(listener)).toEqual(["before", "after"]));
    await eventually(async () => expect(await receipts()).toEqual([before, "peer_msg", after]));
  });
});
