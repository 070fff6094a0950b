import { describe } from "vitest";
import { describeConnection } from "./connection.ts";
import { DriverStory } from "./driver-story.ts";
import { describePairing } from "./pairing.ts";
import { describeReceiving } from "./receiving.ts";
import { describeSending } from "./sending.ts";
import type { DriverHarness, DriverHarnessOptions } from "./stage.ts";

/** The one suite that every driver must pass; `start` puts up a network with nothing paired but the contact. */
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
