import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { findRowExcerpts, findRowsWith, readFilesBelow } from "../stories/find-rows.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

const [ANA, BEA] = [newPhone(), newPhone()];
const markOf = (phone: string) => `mark${phone}x`;

describe("a gateway that is killed while it erases one person", () => {
  let story: E2eStory;
  let instance: PairedInstance;
  let key: Client;
  let group: string;
  let before: string[];
  let output = "";
  const deaths: string[] = [];

  beforeAll(async () => {
    story = await createE2eStory({ WAYGATE_LOG_LEVEL: "debug" });
    await story.start();
    instance = await story.pair();
    key = story.clientOf(instance);
    const { id } = instance;
    group = (await key.createGroup({ id, name: "Team", participants: [ANA, BEA] })).data.jid;
    for (const phone of [ANA, BEA]) await talk(phone);
    await key.listGroups({ id });
    await drained();
    // Sessions and their groups change with each start.
    before = await findRowsOfBea();
    await die("13", () => erase().catch(() => {}));
    await die("3", async () => {});
    output += story.gateway.output();
    await story.start();
    const owner = await story.signIn();
    await waitUntil(async () => (await owner.listDataRequests()).data[0]?.status === "completed");
  }, 300_000);
  afterAll(() => story.end());

  const erase = async () => (await story.signIn()).anonymizeData({ scope: "person", number: ANA });
  const findRowsOfBea = async () =>
    (await findRowsWith(story.rows, [markOf(BEA)])).filter((row) => !row.includes(markOf(ANA)));

  async function drained(): Promise<void> {
    await story.drained();
    await waitUntil(async () => (await story.rows("select from sandbox.inbox limit 1")).length === 0);
    await story.drained();
  }

  /** Texts and a file in the chat and in the group, and data in the CRM. */
  async function talk(phone: string): Promise<void> {
    const { id } = instance;
    const mark = markOf(phone);
    const from = { id, from: phone, push_name: mark };
    const base64 = Buffer.from(`file ${mark}`).toString("base64");
    await key.sandboxReceive({
      ...from,
      media: { base64, type: "document", mime_type: "text/plain", caption: mark },
    });
    await key.sandboxReceive({ ...from, group_jid: group, text: mark });
    await key.sendText({ id, number: phone, text: mark });
    await (await story.signIn()).createLead({ phone, name: mark });
    await waitUntil(async () => (await story.rows("select from media where status <> 'ready'")).length === 0);
  }

  /** Restarts with a fault at the nth batch and waits for the exit. */
  async function die(nth: string, request: () => Promise<unknown>): Promise<void> {
    output += story.gateway.output();
    await story.gateway.kill();
    await story.dieAt(`privacy:after-batch:${nth}`, request);
    deaths.push(nth);
  }

  test("goes on with the same person, of whom no table has a trace in the end", async () => {
    expect(deaths).toEqual(["13", "3"]);
    expect(await findRowExcerpts(story.rows, [markOf(ANA), ANA])).toEqual([]);
  });

  test("leaves the rows of others as they were", async () => {
    expect(before.length).toBeGreaterThan(10);
    expect(await findRowsOfBea()).toEqual(before);
  });

  test("deletes the person's file, and keeps that of another", async () => {
    const folder = join(story.settings.WAYGATE_DATA_DIR ?? "", "media");
    const texts = await readFilesBelow(folder);
    expect(texts).toEqual([`file ${markOf(BEA)}`]);
  });

  test("has written neither the name nor the number to its log", () => {
    const all = output + story.gateway.output();
    expect(all.length).toBeGreaterThan(1_000);
    expect([all.includes(markOf(ANA)), all.includes(ANA)]).toEqual([false, false]);
  });
});
