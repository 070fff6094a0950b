import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RawClient } from "./raw-client.ts";
import { eventually, known, Story } from "./story.ts";

describe("accounts and groups", () => {
  let story: Story;
  let client: RawClient;

  beforeEach(async () => {
    story = await Story.start();
    client = await story.paired();
  });

  afterEach(() => story.end());

  it("knows who is on the network, and by which LID", async () => {
    const { socket } = client;
    expect(await socket.onWhatsApp(story.ana.phone, "5511900000000")).toEqual([
      { jid: story.ana.jid, exists: true },
    ]);
    expect(await socket.signalRepository.lidMapping.getLIDForPN(story.ana.jid)).toBe(story.ana.lid);
    expect(await socket.fetchStatus(story.ana.jid)).toMatchObject([
      { status: { status: expect.stringContaining("Hey there") } },
    ]);
  });

  it("answers with the right number for another spelling of it, and takes messages to the LID", async () => {
    const { control, me } = story;
    const phone = "553188887777";
    const ze = await control.addPerson({ phone, aliases: ["5531988887777"] });
    expect(await client.socket.onWhatsApp("5531988887777")).toEqual([{ jid: ze.jid, exists: true }]);
    const sent = await client.socket.sendMessage(ze.lid, { text: "by LID" });
    await eventually(async () => expect(await control.seen(phone)).toMatchObject([{ id: sent?.key.id }]));
    await control.sendMessage(phone, me.phone, "by phone", { addressing: "pn" });
    await eventually(() => expect(client.texts()).toContain("by phone"));
    const { message } = known(client.upserts.find((one) => one.message.message?.conversation === "by phone"));
    expect(message.key).toMatchObject({ remoteJid: ze.jid, remoteJidAlt: ze.lid });
  });

  it("keeps profile, privacy and blocklist", async () => {
    const { socket } = client;
    const { control, me, ana } = story;
    await socket.updateProfileStatus("At work");
    await socket.updateReadReceiptsPrivacy("none");
    expect(await socket.fetchPrivacySettings(true)).toMatchObject({ readreceipts: "none", last: "all" });
    await expect(socket.profilePictureUrl(ana.jid)).rejects.toMatchObject({ data: 404 });
    await socket.onWhatsApp(ana.phone);
    await socket.signalRepository.lidMapping.getLIDForPN(ana.jid);
    await socket.updateBlockStatus(ana.jid, "block");
    expect(await socket.fetchBlocklist()).toEqual([ana.lid]);
    await control.sendMessage(ana.phone, me.phone, "blocked");
    expect(await control.person(me.phone)).toMatchObject({ about: "At work", blocked: [ana.phone] });
    await socket.updateBlockStatus(ana.jid, "unblock");
    await control.sendMessage(ana.phone, me.phone, "unblocked");
    await eventually(() => expect(client.texts()).toEqual(["unblocked"]));
  });

  it("makes, changes and leaves groups, and tells the members", async () => {
    const { socket } = client;
    const { control, ana } = story;
    const bia = await control.addPerson({ name: "Bia" });
    const group = await socket.groupCreate("Trip", [ana.jid]);
    expect(group).toMatchObject({ subject: "Trip", addressingMode: "lid", size: 2 });
    const results = await socket.groupParticipantsUpdate(group.id, [bia.jid], "add");
    expect(results).toMatchObject([{ status: "200" }]);
    await socket.groupUpdateSubject(group.id, "Long trip");
    await socket.groupUpdateDescription(group.id, "Where to?");
    await socket.groupSettingUpdate(group.id, "announcement");
    await socket.groupParticipantsUpdate(group.id, [bia.jid], "promote");
    expect(await control.group(group.id)).toMatchObject({
      subject: "Long trip",
      description: "Where to?",
      announce: true,
      members: [{ admin: true }, { phone: ana.phone, admin: false }, { phone: bia.phone, admin: true }],
    });
    const code = known(await socket.groupInviteCode(group.id));
    expect(await socket.groupGetInviteInfo(code)).toMatchObject({ id: group.id, desc: "Where to?" });
    expect(Object.keys(await socket.groupFetchAllParticipating())).toEqual([group.id]);
    await control.changeGroup(bia.phone, group.id, { change: "subject", subject: "Short trip" });
    await eventually(() =>
      expect(client.all("groups.update").flat()).toContainEqual(
        expect.objectContaining({ id: group.id, subject: "Short trip" }),
      ),
    );
    await socket.groupLeave(group.id);
    await expect(socket.groupMetadata(group.id)).rejects.toThrow("forbidden");
    expect((await control.group(group.id)).members).toHaveLength(2);
  });

  it("needs one stanza for a text to somebody who was written to before", async () => {
    const { socket } = client;
    const { control, me, ana } = story;
    await socket.sendMessage(ana.jid, { text: "warm up" });
    await eventually(async () => expect(await control.seen(ana.phone)).toHaveLength(1));
    await control.clearLedger();
    await socket.sendMessage(ana.jid, { text: "warm" });
    await eventually(async () => expect(await control.stanzas(me.phone)).toMatchObject({ message: 1 }));
    // The settings of the account belong to the first login, and may still be on their way.
    const isAboutSettings = (kind: string) => kind === "iq:w:sync:app:state";
    const kinds = Object.keys(await control.stanzas(me.phone));
    expect(kinds.filter((kind) => kind.startsWith("iq") && !isAboutSettings(kind))).toEqual([]);
  });

  it("links two devices, which see what the other sends", async () => {
    const { control, me, ana } = story;
    const second = await story.paired();
    await client.socket.sendMessage(ana.jid, { text: "from the first" });
    await eventually(() => expect(second.texts()).toContain("from the first"));
    await control.sendMessage(ana.phone, me.phone, "to both");
    await eventually(() => {
      expect(client.texts()).toContain("to both");
      expect(second.texts()).toContain("to both");
    });
    await client.socket.logout();
    await eventually(async () => expect((await control.person(me.phone)).devices).toHaveLength(1));
  });

  it("goes on with a contact that installed the app anew, and with one that linked a device", async () => {
    const { control, me, ana } = story;
    await client.socket.sendMessage(ana.jid, { text: "before" });
    await control.sendMessage(ana.phone, me.phone, "before too");
    await eventually(() => expect(client.texts()).toContain("before too"));
    await control.reinstall(ana.phone);
    await control.sendMessage(ana.phone, me.phone, "after");
    await eventually(() => expect(client.texts()).toContain("after"));
    const hers = await story.paired(ana.phone);
    await client.socket.sendMessage(ana.jid, { text: "after too" });
    await eventually(async () => {
      expect(hers.texts()).toContain("after too");
      expect(await control.seen(ana.phone)).toContainEqual(
        expect.objectContaining({ content: { kind: "text", text: "after too" } }),
      );
    });
  });

  it("refuses connections while its door is shut", async () => {
    await story.control.listen(false);
    client.close();
    client.connect();
    await eventually(() => expect(client.closes).toContain(408));
    await story.control.listen(true);
    await story.login(client);
  });

  it("lets two clients write to each other", async () => {
    const { ana, me } = story;
    const hers = await story.paired(ana.phone);
    await client.socket.sendMessage(ana.jid, { text: "to a client" });
    await eventually(() => expect(hers.texts()).toContain("to a client"));
    await hers.socket.sendMessage(me.jid, { text: "from a client" });
    await eventually(() => expect(client.texts()).toContain("from a client"));
  });
});
