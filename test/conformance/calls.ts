import { expect, it } from "vitest";
import { done } from "./answers.ts";
import { eventually, RecordingSession } from "./listener.ts";
import type { OperationStory } from "./operation-story.ts";

/** The part of the suite about phone calls, and about operations while not connected. */
export function describeCalls(story: OperationStory): void {
  it("rejects a phone call", async () => {
    const before = story.listener.all("call_received").length;
    await story.stage.contact.startPhoneCall();
    const { call_id, from } = await story.listener.waitForEvent("call_received", before + 1);
    done(await story.session.rejectCall(call_id, from.jid));
    await eventually(async () => expect(await story.world.rejectedPhoneCalls()).toContain(call_id));
  });

  it("returns nothing while it is not connected", async () => {
    const { session } = new RecordingSession(story.stage.driver, story.stage.credentials());
    const group = await story.ownGroup(story.contact);
    const answers = await Promise.all([
      session.contacts?.check([story.contact]),
      session.chats?.setState(story.stage.contact.jid, { archived: true }),
      session.profile?.get(),
      session.groups?.get(group),
      session.rejectCall?.("CALL", story.stage.contact.jid),
    ]);
    expect(answers.map((one) => one?.outcome)).toEqual(Array(answers.length).fill("failed"));
  });
}
