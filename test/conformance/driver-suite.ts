import { describe } from "vitest";
import { describeConnection } from "./connection.ts";
import { DriverStory } from "./driver-story.ts";
import { describePairing } from "./pairing.ts";
import { describeReceiving } from "./receiving.ts";
import { describeSending } from "./sending.ts";
import type { DriverHarness, DriverHarnessOptions } from "./stage.ts";

/** The suite that every driver must pass; `start` creates a network on which only the contact is paired. */
export function describeDriver(
  name: string,
  start: (options?: DriverHarnessOptions) => Promise<DriverHarness>,
): void {
  describe(`${name} driver`, () => {
    const story = new DriverStory(start);
    describePairing(story);
    describeConnection(story);
    describeSending(story);
    describeReceiving(story);
  });
}
