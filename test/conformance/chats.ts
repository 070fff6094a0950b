import { describe, expect, it } from "vitest";
import type { MessageId } from "../../src/network/driver.ts";
import { phoneJid } from "../../src/network/jid.ts";
import type { ChatState } from "../../src/network/session-operations.ts";
import { done } from "./answers.ts";
import type { EventOf } from "./listener.ts";
import type { OperationStory } from "./operation-story.ts";

/** The part of the suite about chats. */
export function describeChats(story: OperationStory): void {
  describe("chats", () => {
    const changes: [string, ChatState, ChatState][] = [
      ["archives", { archived: true }, { archived: false }],
      ["pins", { pinned: true }, { pinned: false }],
      ["mutes", { muted_until: hourFromNow() }, { muted_until: null }],
      ["marks unread", { unread: true }, { unread: false }],
    ];

    it.each(changes)("%s a chat and reverts it", async (_, change, opposite) => {
      const { jid, number } = await story.world.addPerson();
      const last = { chat: jid, id: "LAST" as MessageId, from_me: false, at: new Date() };
      done(await story.session.chats.setState(jid, change, last));
      expect(await story.world.chat(jid)).toMatchObject(change);
      done(await story.session.chats.setState(phoneJid(number), opposite, last));
      expect(await story.world.chat(jid)).toMatchObject(opposite);
    });

    it("changes a chat without messages, and a group", async () => {
      const { jid } = await story.world.addPerson();
      done(await story.session.chats.setState(jid, { archived: true }));
      expect(await story.world.chat(jid)).toMatchObject({ archived: true });
      const group = await story.ownGroup(story.contact);
      done(await story.session.chats.setState(group, { pinned: true }));
      expect(await story.world.chat(group)).toMatchObject({ pinned: true });
    });

    it.each(changes)("reports when the phone %s a chat", async (_, change, opposite) => {
      const { jid } = await story.world.addPerson();
      for (const state of [change, opposite]) {
        await story.world.changeChat(jid, state);
        const told = (event: EventOf<"chat_updated">) =>
          event.chat === jid && JSON.stringify(event.change) === JSON.stringify(state);
        await story.findEvent("chat_updated", told);
      }
    });
  });
}

const HOUR_MS = 3_600_000;

function hourFromNow(): Date {
  return new Date(Date.now() + HOUR_MS);
}
