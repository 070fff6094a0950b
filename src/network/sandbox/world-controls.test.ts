import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../test/conformance/listener.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { startSandboxNetwork, type TestSandboxNetwork } from "../../../test/stories/sandbox-network.ts";
import type { Content, Jid } from "../driver.ts";
import { newMessageId, phoneJid } from "../jid.ts";

const ANA = "5511977770101";
const BIA = "5511977770102";
const CID = "5511977770103";

let store: TestDatabase;
let network: TestSandboxNetwork;

beforeAll(async () => {
  store = await createTestDatabase();
});

beforeEach(async () => {
  network = await startSandboxNetwork({ store });
});

afterEach(() => network.stop());

afterAll(() => store.drop());

const text = (words: string): Content => ({ kind: "text", text: words });

async function makeGroup(owner: RecordingSession, ...people: string[]): Promise<Jid> {
  const made = await owner.session.groups?.create("Team", people.map(phoneJid));
  if (made?.outcome !== "done") throw new Error("no group was made");
  return made.value.group.jid;
}

async function rolesIn(member: RecordingSession, jid: Jid): Promise<Record<string, string | null>> {
  const found = await member.session.groups?.get(jid);
  if (found?.outcome !== "done") throw new Error(`no group: ${JSON.stringify(found)}`);
  return Object.fromEntries(found.value.participants.map((one) => [one.phone, one.admin]));
}

describe("a sandbox group", () => {
  it("is the same one for all processes, and still exists after a kill", async () => {
    const other = network.startProcess();
    const [ana, bia] = [await network.pair(ANA), await other.pair(BIA)];
    const jid = await makeGroup(ana, BIA);
    expect((await bia.waitForEvent("group_updated")).change.group).toMatchObject({ jid, subject: "Team" });
    await other.kill();
    const id = newMessageId();
    await ana.session.send(jid, text("while you were away"), { id });
    const again = network.startProcess().open(bia.credentials);
    again.session.connect();
    expect(await again.message(id)).toMatchObject({ chat: jid, chat_type: "group", sender: { phone: ANA } });
    expect(await rolesIn(again, jid)).toEqual({ [ANA]: "superadmin", [BIA]: null });
    await eventually(() => expect(ana.all("message_status").map((one) => one.status)).toContain("delivered"));
  });

  it("delivers a member's message to all other members, and a quote with its author", async () => {
    const [ana, bia, cid] = [await network.pair(ANA), await network.pair(BIA), await network.pair(CID)];
    const jid = await makeGroup(ana, BIA, CID);
    const id = newMessageId();
    await bia.session.send(jid, text("Who comes?"), { id });
    for (const one of [ana, cid]) expect((await one.message(id)).sender.phone).toBe(BIA);
    const reply = newMessageId();
    const quoted = { id, from_me: false, sender: phoneJid(BIA), text: "Who comes?" };
    await cid.session.send(jid, { ...text("Me"), quoted }, { id: reply });
    expect((await ana.message(reply)).content.quoted).toEqual(quoted);
    expect(bia.countEvents(id)).toBe(0);
  });

  it("passes to its oldest member when its last admin leaves, and ends with its last member", async () => {
    const [ana, bia] = [await network.pair(ANA), await network.pair(BIA)];
    const jid = await makeGroup(ana, BIA, CID);
    await ana.session.groups?.leave(jid);
    expect(await rolesIn(bia, jid)).toEqual({ [BIA]: "admin", [CID]: null });
    const changes = async () => {
      await bia.waitForEvent("group_updated", 3);
      return bia.all("group_updated").map(({ change }) => change.participants);
    };
    expect((await changes()).slice(1)).toMatchObject([
      { action: "remove", who: [{ phone: ANA }] },
      { action: "promote", who: [{ phone: BIA, admin: "admin" }] },
    ]);
    await bia.session.groups?.updateParticipants(jid, "remove", [phoneJid(CID)]);
    await bia.session.groups?.leave(jid);
    expect(await bia.session.groups?.get(jid)).toMatchObject({ outcome: "refused", code: "NOT_FOUND" });
  });

  it("accepts no message from a non-member, or from a member who may not write", async () => {
    const [ana, bia] = [await network.pair(ANA), await network.pair(BIA)];
    const jid = await makeGroup(ana, CID);
    const write = () => bia.session.send(jid, text("Hello?"), { id: newMessageId() });
    expect(await write()).toMatchObject({ outcome: "refused", code: "RECIPIENT_NOT_FOUND" });
    await ana.session.groups?.updateParticipants(jid, "add", [phoneJid(BIA)]);
    expect(await write()).toMatchObject({ outcome: "accepted" });
    await ana.session.groups?.update(jid, { announce: true });
    expect(await write()).toMatchObject({ outcome: "refused" });
    await ana.session.groups?.updateParticipants(jid, "promote", [phoneJid(BIA)]);
    expect(await write()).toMatchObject({ outcome: "accepted" });
  });

  it("holds 1,024 members", async () => {
    const ana = await network.pair(ANA);
    const people = Array.from({ length: 1024 }, (_, n) => phoneJid(`55119${70_000_000 + n * 10 + 1}`));
    const made = await ana.session.groups?.create("Full", people);
    if (made?.outcome !== "done") throw new Error("no group was made");
    expect(made.value.group.participants).toHaveLength(1024);
    expect(made.value.results.at(-1)?.status).toBe(419);
  });
});

describe("a sender whom the receiver has blocked", () => {
  it("reaches the receiver only after the block is removed", async () => {
    const [ana, bia] = [await network.pair(ANA), await network.pair(BIA)];
    const write = async (words: string) => {
      const id = newMessageId();
      expect(await bia.session.send(phoneJid(ANA), text(words), { id })).toMatchObject({
        outcome: "accepted",
      });
      return id;
    };
    await ana.session.contacts?.setBlocked(phoneJid(BIA), true);
    const unwanted = await write("Hello?");
    await ana.session.contacts?.setBlocked(phoneJid(BIA), false);
    await ana.message(await write("Hello again"));
    expect(ana.countEvents(unwanted)).toBe(0);
  });
});
