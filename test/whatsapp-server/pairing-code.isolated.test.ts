import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, known, Story } from "./story.ts";

describe("pairing by code, and what the phone sends first", () => {
  let story: Story;

  beforeEach(async () => {
    story = await Story.start();
  });

  afterEach(() => story.end());

  it("links by a code typed into the phone, and refuses a wrong one", async () => {
    const client = story.client();
    const socket = client.connect();
    await eventually(() => known(client.qr));
    const code = await socket.requestPairingCode(story.me.phone);
    await expect(story.control.enterCode(story.me.phone, "AAAABBBB")).rejects.toThrow("the code is wrong");
    expect(await story.control.enterCode(story.me.phone, code)).toBe(1);
    await eventually(() => expect(client.closes).toEqual([515]));
    await story.login(client);
    expect(client.auth.creds).toMatchObject({
      registered: true,
      me: { lid: expect.stringContaining("@lid") },
    });
    await story.control.sendMessage(story.ana.phone, story.me.phone, "by code");
    await eventually(() => expect(client.texts()).toContain("by code"));
  });

  it("sends history, names and the key of the settings at the first login only", async () => {
    const { control, me, ana } = story;
    const at = Date.now() - 60_000;
    const messages = [
      { id: "OLD1", text: "long ago", at },
      { id: "OLD2", text: "indeed", from_me: true, at: at + 1000 },
    ];
    await control.settings({ history: [{ chat: ana.phone, name: "Ana", messages }] });
    const client = await story.paired();
    await eventually(() => {
      const history = client.all("messaging-history.set");
      expect(history.flatMap((one) => one.messages.map((message) => message.key.id))).toEqual([
        "OLD1",
        "OLD2",
      ]);
      expect(history.flatMap((one) => one.contacts)).toContainEqual(
        expect.objectContaining({ id: ana.jid, notify: "Ana" }),
      );
    });
    await eventually(() => expect(client.auth.creds.accountSyncCounter).toBe(1));
    await client.socket.chatModify({ pushNameSetting: "Renamed" }, "");
    expect(await control.appSettings(me.phone)).toMatchObject([
      { index: ["setting_pushName"], action: { pushNameSetting: { name: "Renamed" } } },
    ]);
    await control.changeSetting(me.phone, { mute: Date.now() + 60_000 }, ana.jid);
    await eventually(() =>
      expect(client.all("chats.update").flat()).toContainEqual(
        expect.objectContaining({ id: ana.jid, muteEndTime: expect.anything() }),
      ),
    );
    client.close();
    await story.login(client);
    expect(client.all("messaging-history.set").flatMap((one) => one.messages)).toHaveLength(2);
  });
});
