import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type RecordingSession } from "../../../../test/conformance/listener.ts";
import {
  type MemoryCredentials,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
} from "../../../../test/whatsapp-stage.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;
let credentials: MemoryCredentials;

beforeEach(async () => {
  stage = await startWhatsAppStage();
  credentials = storeInMemory();
  listener = stage.open({}, { credentials });
  await listener.pair(stage.phone);
});

afterEach(() => stage.stop());

const say = async (words: string[], group = false): Promise<void> => {
  for (const text of words) await stage.contact.sendMessage({ kind: "text", text }, { group });
};
const words = (name: string) => Array.from({ length: 8 }, (_, i) => `${name} ${i}`);
const heard = () =>
  listener.all("message").map(({ message: { content } }) => (content.kind === "text" ? content.text : ""));

describe("messages of a chat keep their order", () => {
  it.each([false, true])(
    "when key lookups are slower for some senders than for others, group: %s",
    async (group) => {
      let reads = 0;
      credentials.beforeRead = () => new Promise((done) => setTimeout(done, reads++ === 0 ? 60 : 2));
      await say(words("live"), group);
      await eventually(() => expect(heard()).toEqual(words("live")));
    },
  );

  it("when new messages arrive while the network's queue is still being emptied", async () => {
    await listener.session.disconnect();
    await say(words("waited"));
    credentials.beforeCommit = () => new Promise((done) => setTimeout(done, 5));
    listener.session.connect();
    await eventually(() => expect(heard().length).toBeGreaterThan(0));
    await say(words("live"));
    await eventually(() => expect(heard()).toEqual([...words("waited"), ...words("live")]));
    const offline = listener.all("message").map(({ message }) => message.offline === true);
    expect(offline).toEqual([...words("waited").map(() => true), ...words("live").map(() => false)]);
  });

  it("when they are reported only after a restart", async () => {
    listener.gate = async (event) => {
      if (event.type === "message") throw new Error("not now");
    };
    await say(words("kept"), true);
    await eventually(() => expect(credentials.entries.size).toBeGreaterThanOrEqual(8));
    await listener.session.disconnect();
    listener.gate = async () => undefined;
    listener.session.connect();
    await eventually(() => expect(heard()).toEqual(words("kept")));
  });
});
