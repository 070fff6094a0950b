import { describe } from "vitest";
import { describeCalls } from "./calls.ts";
import { describeChats } from "./chats.ts";
import { describeContacts } from "./contacts.ts";
import { describeGroups } from "./groups.ts";
import { OperationStory } from "./operation-story.ts";
import { describeProfile } from "./profile.ts";
import type { OperationStage } from "./world.ts";

/** The suite of the operations of a session; every driver that has these capabilities must pass it. */
export function describeOperations(name: string, start: () => Promise<OperationStage>): void {
  describe(`${name} driver, operations`, () => {
    const story = new OperationStory(start);
    describeContacts(story);
    describeChats(story);
    describeProfile(story);
    describeGroups(story);
    describeCalls(story);
  });
}
