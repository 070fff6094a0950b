import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import { createGate } from "../../../../test/gate.ts";
import { startWhatsAppStage, storeInMemory, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import { newMessageId } from "../../jid.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;
let credentials: ReturnType<typeof storeInMemory>;
/** Delays the change's lookup of its message. */
let gate: ReturnType<typeof createGate>;

const open = () => stage.open({}, { credentials, findOriginal: () => gate.opened.then(() => undefined) });

beforeEach(async () => {
  stage = await startWhatsAppStage();
  credentials = storeInMemory();
  gate = createGate();
  listener = open();
  await listener.pair(stage.phone);
});

afterEach(() => stage.stop());

/** Resolves once the change and its message are in the journal, in this order. */
async function receive(change: "edit" | "delete"): Promise<never> {
  const id = newMessageId();
  const { control, contact, phone } = stage;
  const changed =
    change === "edit"
      ? await control.edit(contact.number, phone.number, id, "Latest", { at: Date.now() + 5_000 })
      : await control.delete(contact.number, phone.number, id);
  await control.sendMessage(contact.number, phone.number, "First", { id });
  for (const one of [changed, id])
    await eventually(async () => {
      const { deliveries } = await control.ledger();
      expect(deliveries.find((delivery) => delivery.id === one)?.receipted_at).toBeDefined();
    });
  return id as never;
}

const WINS = [
  ["an edit", "edit", { content: { text: "Latest" }, edited_at: expect.any(Date) }],
  ["a deletion", "delete", { deleted_at: expect.any(Date) }],
] as const;

describe("a change whose message follows at once", () => {
  it.each(WINS)("wins: %s", async (_, change, expected) => {
    const id = await receive(change);
    gate.open();
    expect(await listener.message(id)).toMatchObject(expected);
  });

  it.each(WINS)("wins after a kill: %s", async (_, change, expected) => {
    const id = await receive(change);
    stage.abandon(listener);
    gate.open();
    const next = open();
    next.session.connect();
    expect(await next.message(id)).toMatchObject({ ...expected, offline: true });
  });
});
