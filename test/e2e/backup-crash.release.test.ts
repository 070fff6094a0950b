import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { createE2eStory, type E2eStory } from "./e2e-story.ts";

beforeAll(buildDist);

/** During the writing of the file, and after it is complete but not yet recorded. */
const [WRITING, BEFORE_RECORD] = ["backup:writing", "backup:before-record"];

describe("a gateway that is killed while it makes a backup", () => {
  let story: E2eStory;

  beforeAll(async () => {
    story = await createE2eStory();
  });
  afterAll(() => story.end());

  test("reports the failure, and leaves no file that could be mistaken for a backup", async () => {
    const files = () => readdir(join(story.settings.WAYGATE_DATA_DIR ?? "", "backups"));
    const find = async () => (await owner.listBackups()).data[0];
    await story.start({ WAYGATE_FAULT_POINT: WRITING });
    let owner = await story.signIn();
    const starts: Record<string, string>[] = [{ WAYGATE_FAULT_POINT: BEFORE_RECORD }, {}];
    for (const next of starts) {
      const pending = owner.createBackup().catch(() => undefined);
      expect(await story.gateway.exited).toEqual({ code: null, signal: "SIGKILL" });
      await pending;
      expect(await files()).toHaveLength(1);
      await story.start(next);
      owner = await story.signIn();
      await waitUntil(async () => (await find())?.status === "failed", 60_000);
      expect(await find()).toMatchObject({ reason: "The process that made it ended.", file: null });
      await waitUntil(async () => (await files()).length === 0);
    }
    await owner.createBackup();
    await waitUntil(async () => (await find())?.status === "verified", 60_000);
    expect(await files()).toEqual([(await find())?.file]);
  });
});
