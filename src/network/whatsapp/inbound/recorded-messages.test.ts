import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { createGate } from "../../../../test/gate.ts";
import {
  type MemoryCredentials,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
} from "../../../../test/whatsapp-stage.ts";
import type { MessageId, NetworkMessage, PairingChange, PairingStore } from "../../driver.ts";
import { newMessageId } from "../../jid.ts";

type CommitWithMessages = NonNullable<PairingStore["commitWithMessages"]>;

let stage: WhatsAppStage;
let credentials: MemoryCredentials;
let recorded: NetworkMessage[];
let listener: RecordingSession;

beforeEach(async () => {
  stage = await startWhatsAppStage();
  credentials = storeInMemory();
  recorded = [];
  const commitWithMessages: CommitWithMessages = async (change, messages) => {
    recorded.push(...messages);
    return credentials.keys.commit(change);
  };
  Object.assign(credentials.keys, { commitWithMessages });
  listener = stage.open({}, { credentials });
  await listener.pair(stage.phone);
});

afterEach(() => stage.stop());

const say = (text: string): Promise<MessageId> => stage.contact.sendMessage({ kind: "text", text });

const receiptOf = async (id: string) =>
  (await stage.control.ledger()).deliveries.find((one) => one.id === id)?.receipted_at;

function replaceCommit(commit: CommitWithMessages): void {
  Object.assign(credentials.keys, { commitWithMessages: commit });
}

describe("a message that the gateway records with the pairing", () => {
  it("is not reported, and the journal gets only its marker", async () => {
    const changes: PairingChange[] = [];
    const { commitWithMessages } = credentials.keys as Required<PairingStore>;
    replaceCommit((change, messages) => {
      changes.push(change);
      return commitWithMessages(change, messages);
    });
    const id = await say("Hello");
    await eventually(async () => expect(await receiptOf(id)).toBeDefined());
    expect(recorded).toMatchObject([
      { id, chat: stage.contact.jid, content: { kind: "text", text: "Hello" } },
    ]);
    expect(changes).toMatchObject([{ journal_entries: [{ is_done: true }] }]);
    expect(changes[0]?.keys.map(({ kind }) => kind)).toContain("session");
    expect(listener.all("message")).toEqual([]);
  });

  it("gets its receipt after the commit, and reports of its chat wait for the commit", async () => {
    const sent = newMessageId();
    await listener.session.send(stage.contact.jid, { kind: "text", text: "Hi" }, { id: sent });
    const statuses = () => listener.all("message_status").map(({ status }) => status);
    await eventually(() => expect(statuses()).toEqual(["delivered"]));
    const gate = createGate();
    const held = createGate();
    const { commitWithMessages } = credentials.keys as Required<PairingStore>;
    replaceCommit(async (change, messages) => {
      held.open();
      await gate.opened;
      return commitWithMessages(change, messages);
    });
    const id = await say("Hello");
    await held.opened;
    await stage.contact.markRead(sent);
    const other = await stage.control.addPerson();
    await stage.control.call(other.phone, stage.phone.number);
    // The network sends it after the receipt.
    await listener.waitForEvent("call_received");
    expect([statuses(), await receiptOf(id)]).toEqual([["delivered"], undefined]);
    gate.open();
    await eventually(() => expect(statuses()).toEqual(["delivered", "read"]));
    expect(recorded.map((one) => one.id)).toEqual([id]);
    await eventually(async () => expect(await receiptOf(id)).toBeDefined());
  });

  it("is reported from the journal if it cannot be recorded, after its Signal session state is stored", async () => {
    replaceCommit(async () => "unrecorded");
    const id = await say("Hello");
    expect(await listener.message(id)).toMatchObject({ content: { kind: "text", text: "Hello" } });
    await eventually(async () => expect(await receiptOf(id)).toBeDefined());
    expect(recorded).toEqual([]);
    const next = await say("And on");
    expect(await listener.message(next)).toMatchObject({ content: { kind: "text", text: "And on" } });
  });

  it("waits in the journal while an earlier message of its chat is not reported", async () => {
    const gate = createGate();
    listener.gate = async (event) => {
      if (event.type === "message") await gate.opened;
    };
    const { commitWithMessages } = credentials.keys as Required<PairingStore>;
    replaceCommit(async () => "unrecorded");
    const first = await say("first");
    await eventually(async () => expect(await receiptOf(first)).toBeDefined());
    replaceCommit(commitWithMessages);
    const second = await say("second");
    await eventually(async () => expect(await receiptOf(second)).toBeDefined());
    gate.open();
    await eventually(() =>
      expect(listener.all("message").map(({ message }) => message.id)).toEqual([first, second]),
    );
    expect(recorded).toEqual([]);
  });
});
