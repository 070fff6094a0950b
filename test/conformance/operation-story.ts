import { afterAll, beforeAll, expect } from "vitest";
import type { Jid, NetworkEvent, Session } from "../../src/network/driver.ts";
import type { OperationResult } from "../../src/network/session-operations.ts";
import { type EventOf, eventually, RecordingSession } from "./listener.ts";
import type { NetworkControls, OperationStage } from "./stage.ts";

/** Returns the result of a completed operation. Any other outcome fails the test. */
export function done<Value>(result: OperationResult<Value>): Value {
  if (result.outcome !== "done") expect.fail(`not done: ${JSON.stringify(result)}`);
  return result.value;
}

export function refused(code: string) {
  return { outcome: "refused", code, reason: expect.any(String) };
}

export function digits(jid: Jid): string {
  return jid.replace(/@.*/, "");
}

export const LID = expect.stringMatching(/^\d+@lid$/);

/** A valid JPEG of one grey pixel. */
export const JPEG = Buffer.from(
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==",
  "base64",
);

type GroupChanged = EventOf<"group_updated">["change"];

/** One paired session for all tests of operations. */
export class OperationStory {
  stage!: OperationStage;
  listener!: RecordingSession;

  constructor(start: () => Promise<OperationStage>) {
    beforeAll(async () => {
      this.stage = await start();
      this.listener = new RecordingSession(this.stage.driver, this.stage.credentials());
      await this.listener.pair(this.stage.phone);
    });
    afterAll(async () => {
      await this.session.disconnect();
      await this.stage.stop();
    });
  }

  get world(): NetworkControls {
    return this.stage.world;
  }

  get session(): Required<Session> {
    return this.listener.session as Required<Session>;
  }

  get phone(): string {
    return this.stage.phone.number;
  }

  get contact(): string {
    return this.stage.contact.number;
  }

  findEvent<Type extends NetworkEvent["type"]>(
    type: Type,
    fits: (event: EventOf<Type>) => boolean,
  ): Promise<EventOf<Type>> {
    return eventually(() => {
      const event = this.listener.all(type).find(fits);
      expect(event, type).toBeDefined();
      return event as EventOf<Type>;
    });
  }

  async changeOf(group: Jid, fits: (change: GroupChanged) => boolean): Promise<GroupChanged> {
    const fitting = (event: EventOf<"group_updated">) => event.group === group && fits(event.change);
    return (await this.findEvent("group_updated", fitting)).change;
  }

  ownGroup(...others: string[]): Promise<Jid> {
    return this.world.addGroup("Team", [this.phone, ...others]);
  }
}
