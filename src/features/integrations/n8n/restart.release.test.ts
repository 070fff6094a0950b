import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newPerson, waitUntil } from "../../../../test/integration-story.ts";
import type { BootPhase } from "../../../../test/n8n-server.ts";
import { setUpN8nStory } from "../../../../test/n8n-story.ts";

const WRITERS = 30;
const SOON_MS = 30_000;

describe("n8n that restarts", () => {
  const fixture = setUpN8nStory();

  test("delays 30 people's messages; each gets one reply within 30 s of the restart", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in", { respond: "responseNode", output: { output: "here I am" } });
    await fixture.save("in", { reply_mode: "response" });
    const people = Array.from({ length: WRITERS }, () => newPerson());
    const writing = (async () => {
      for (const person of people) {
        await story.receive(person, "are you there?");
        await delay(400);
      }
    })();
    await n8n.shut();
    await delay(3_000);
    n8n.boot("no_database");
    await n8n.open();
    for (const phase of ["migrating", "no_workflows"] satisfies BootPhase[]) {
      n8n.boot(phase);
      await delay(4_000);
    }
    await writing;
    n8n.boot(undefined);
    await waitUntil(async () => {
      const heard = await Promise.all(people.map((person) => story.receivedSoFar(person)));
      return heard.every((texts) => texts.length > 0);
    }, SOON_MS);
    await story.waitUntilIdle();
    for (const person of people) expect(await story.receivedSoFar(person)).toEqual(["here I am"]);
    expect(n8n.executions).toHaveLength(WRITERS);
    expect(await fixture.read()).toMatchObject({
      status: "ok",
      last_error_is_past: true,
      paused_until: null,
    });
  });

  test.each([
    ["migrating", /n8n is starting/],
    ["no_workflows", /n8n is starting.*compare webhook_url.*Cannot POST/],
    ["no_database", /Database is not ready/],
  ] as const)("has accepted nothing while it responds as in the phase %s", async (phase, words) => {
    const { story, n8n } = fixture;
    n8n.activate("in");
    await fixture.save("in");
    n8n.boot(phase);
    await story.receive(newPerson(), "hi");
    expect((await fixture.status("failing")).last_error).toMatch(words);
    expect(await fixture.test()).toMatchObject({ success: false, message: expect.stringMatching(words) });
    expect((await fixture.read()).waiting).toBe(1);
    n8n.boot(undefined);
    await fixture.executed(1);
    expect(fixture.inputs()).toEqual(["hi"]);
  });

  test("is not mistaken for an inactive workflow after many other failures", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in");
    await fixture.save("in");
    await n8n.shut();
    await story.receive(newPerson(), "first");
    await fixture.status("failing");
    for (let tries = 0; tries < 5; tries++) {
      const { last_error_at } = await fixture.read();
      await story.gateway.advance(600_000);
      await waitUntil(async () => (await fixture.read()).last_error_at !== last_error_at);
    }
    n8n.deactivate("in");
    await n8n.open();
    await story.gateway.advance(600_000);
    await fixture.status("inactive");
    expect((await fixture.read()).paused_until).toBeNull();
    n8n.activate("in");
    await fixture.executed(1);
    expect(fixture.inputs()).toEqual(["first"]);
  });
});
