import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { changeTiming } from "../../../../test/change-sandbox-timing.ts";
import { newPerson, waitUntil } from "../../../../test/stories/integration-story.ts";
import { setUpN8nStory } from "../../../../test/stories/n8n-story.ts";
import { RESPONSE_TIMING } from "../classify-response.ts";

const BEARER = { name: "Authorization", value: "Bearer right" };

describe("n8n that rejects requests", () => {
  const fixture = setUpN8nStory();

  /** Backdates the rejections by this interval. */
  const refusedFor = (interval: string) =>
    fixture.story.gateway.database.pool.query(
      "update integration set refused_since = now() - $1::interval where refused_since is not null",
      [interval],
    );

  test("receives the waiting events once the wrong token is replaced", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in", { auth: BEARER });
    await fixture.save("in", { token: "wrong" });
    for (const text of ["one", "two"]) await story.receive(newPerson(), text);
    const refused = await fixture.status("auth_error");
    expect(refused.last_error).toMatch(/Bearer.*Events wait for one day/);
    expect(refused.waiting).toBe(2);
    await fixture.save("in", { token: "right" });
    await fixture.executed(2);
    expect(fixture.inputs().sort()).toEqual(["one", "two"]);
  });

  test("pauses every chat, and the pause is visible until it ends", async () => {
    const { story, n8n } = fixture;
    await fixture.save("later");
    await story.receive(newPerson(), "first");
    const inactive = await fixture.status("inactive");
    expect(inactive).toMatchObject({ paused_until: null, last_error_code: "n8n_inactive" });
    expect(inactive.last_error).toMatch(/not active.*is not registered/);
    expect(inactive.last_error).not.toContain("at ...");
    await refusedFor("10 minutes");
    await story.gateway.advance(600_000);
    await waitUntil(async () => (await fixture.read()).paused_until !== null);
    const until = (await fixture.read()).paused_until ?? "";
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(4 * 60_000);
    n8n.activate("later");
    await story.receive(newPerson(), "second");
    await fixture.save("later");
    await fixture.executed(2);
    expect(fixture.inputs().sort()).toEqual(["first", "second"]);
    expect((await fixture.status("ok")).paused_until).toBeNull();
  });

  test("receives the waiting events as soon as a test call succeeds", async () => {
    const { story, n8n } = fixture;
    await fixture.save("after-test");
    await story.receive(newPerson(), "first");
    await fixture.status("inactive");
    await refusedFor("10 minutes");
    await story.gateway.advance(600_000);
    await waitUntil(async () => (await fixture.read()).paused_until !== null);
    await story.receive(newPerson(), "second");
    n8n.activate("after-test");
    expect((await fixture.test()).success).toBe(true);
    await fixture.executed(3);
    expect(fixture.inputs().sort()).toEqual(["This is a test.", "first", "second"]);
    expect(await fixture.read()).toMatchObject({ status: "ok", paused_until: null });
  });

  test("causes no pause when it rejects a test call", async () => {
    const { story, n8n } = fixture;
    await fixture.save("not-yet");
    await story.receive(newPerson(), "first");
    await fixture.status("inactive");
    await refusedFor("10 minutes");
    expect((await fixture.test()).success).toBe(false);
    expect(await fixture.read()).toMatchObject({ status: "inactive", paused_until: null });
    n8n.activate("not-yet");
    await story.receive(newPerson(), "second");
    await fixture.executed(1);
    expect(fixture.inputs()).toEqual(["second"]);
  });

  test.each([
    [{ token: "t", auth: "bearer" }, /Name is Authorization.*Bearer, a space/],
    [
      { token: "t", auth: "header", header_name: "X-My-Key" },
      /Name is X-My-Key and whose Value is the token/,
    ],
    [{ token: "a:b", auth: "basic" }, /Basic Auth/],
    [{ token: "a.b.c", auth: "jwt" }, /JWT Auth/],
    [{ token: "t", auth: "none" }, /requires authentication/],
  ])("gets an explanation of the required authorisation: %j", async (config, words) => {
    fixture.n8n.activate("in", { auth: { name: "x-other", value: "secret" } });
    await fixture.save("in", config);
    expect((await fixture.test()).message).toMatch(words);
  });

  test("also receives a signature with the previous secret while that secret is valid", async () => {
    const { story, n8n } = fixture;
    const { id, client, webhook_secret } = story.shop;
    n8n.activate("in");
    await fixture.save("in");
    await client.updateDefaultWebhook({ id, url: "http://127.0.0.1:1/nobody" });
    const { data } = await client.updateDefaultWebhook({ id, rotate_secret: true });
    await story.receive(newPerson(), "hi");
    await fixture.executed(1);
    const [execution] = n8n.executions;
    const sign = (secret: string) =>
      `sha256=${createHmac("sha256", secret)
        .update(execution?.raw ?? "")
        .digest("hex")}`;
    expect(execution?.headers).toMatchObject({
      "x-waygate-signature": sign(data.secret),
      "x-waygate-signature-previous": sign(webhook_secret),
    });
  });

  test("starts without errors when the integration is saved, even during a request", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in");
    await fixture.save("in");
    n8n.trouble({ status: 500 }, 100);
    for (let person = 0; person < 12; person++) await story.receive(newPerson(), `m${person}`);
    await waitUntil(async () => (await fixture.read()).paused_until !== null);
    expect((await fixture.read()).last_error_code).toBe("n8n_failed");
    const release = n8n.hold();
    await fixture.save("in");
    // Eight requests have started and fail after the next save; later ones succeed.
    await waitUntil(() => n8n.pending === 8);
    n8n.reset();
    await fixture.save("in");
    release();
    await waitUntil(() => n8n.pending === 0);
    expect((await fixture.read()).paused_until).toBeNull();
    await fixture.executed(12);
    expect(new Set(fixture.inputs()).size).toBe(12);
  });

  test("runs a workflow at most twice when its response comes too late", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in", { respond: "responseNode", output: { output: "late" } });
    await fixture.save("in", { reply_mode: "response", timeout_ms: 1_000 });
    n8n.trouble("never_answer", 100, (body) => body.chatInput === "slow");
    const ana = newPerson();
    await story.receive(ana, "slow");
    await waitUntil(async () => {
      await story.gateway.advance(60_000);
      return (await fixture.read()).waiting === 0;
    });
    expect(fixture.inputs()).toEqual(["slow", "slow"]);
    const failing = await fixture.read();
    expect(failing.last_error).toMatch(/runs at most twice.*timeout_ms/);
    expect(failing.last_error_is_past).toBe(false);
    await story.receive(ana, "quick");
    expect(await story.receivedBy(ana, 1)).toEqual(["late"]);
    await waitUntil(async () => (await fixture.read()).last_error_is_past);
    expect(await fixture.read()).toMatchObject({ status: "ok", last_error: failing.last_error });
  });

  test("does not count as inactive if the workflow itself returns 404, and has no last error after a save", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in");
    await fixture.save("in");
    n8n.trouble({ status: 404 }, 100);
    await story.receive(newPerson(), "hi");
    const failing = await fixture.status("failing");
    expect(failing).toMatchObject({
      last_error: "The integration responded with 404: trouble",
      paused_until: null,
    });
    await waitUntil(async () => (await fixture.read()).waiting === 0);
    const { data } = await fixture.save("in");
    expect(data).toMatchObject({ status: "unknown", last_error: null, last_error_at: null });
  });

  test("causes no warning about an empty response to a request made before the save", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in");
    await fixture.save("in", { reply_mode: "response" });
    const release = n8n.hold();
    await story.receive(newPerson(), "hi");
    await waitUntil(() => n8n.pending === 1);
    await fixture.save("in", { reply_mode: "response" });
    release();
    await waitUntil(async () => (await fixture.read()).waiting === 0);
    expect(await fixture.read()).toMatchObject({ status: "unknown", last_error: null });
  });

  test("does not use up the attempts of an event while it is unavailable", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in");
    await fixture.save("in");
    n8n.trouble({ status: 503 }, 12);
    n8n.trouble({ status: 500 }, 2);
    await story.receive(newPerson(), "hi");
    await waitUntil(async () => (await fixture.read()).last_error !== null);
    // It did not refuse the event, so no kind of refusal is named.
    expect((await fixture.read()).last_error_code).toBeNull();
    await waitUntil(async () => {
      await story.gateway.advance(600_000);
      return n8n.executions.length > 0;
    });
    expect(fixture.inputs()).toEqual(["hi"]);
    await waitUntil(async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from job
        join lane on lane.id = job.lane where lane.kind = 'integration'`.execute(story.gateway.database.db);
      return rows[0]?.n === 0;
    });
    expect(fixture.inputs()).toEqual(["hi"]);
  });

  describe("and whose responses break off after a long time", () => {
    changeTiming(RESPONSE_TIMING, { processedAfterMs: 0 });

    test("runs a workflow at most twice and counts as available", async () => {
      const { story, n8n } = fixture;
      n8n.activate("in", { respond: "responseNode", output: { output: "lost" } });
      await fixture.save("in", { reply_mode: "response" });
      n8n.trouble("lose_answer", 100);
      await story.receive(newPerson(), "slow");
      await waitUntil(async () => {
        await story.gateway.advance(60_000);
        return (await fixture.read()).waiting === 0;
      });
      expect(fixture.inputs()).toEqual(["slow", "slow"]);
      expect((await fixture.read()).last_error).toMatch(/runs at most twice.*time limit of a proxy/);
    });
  });
});

describe("n8n that restarts", () => {
  const fixture = setUpN8nStory();

  test("delays people's messages; each gets one reply after the restart", async () => {
    const { story, n8n } = fixture;
    n8n.activate("in", { respond: "responseNode", output: { output: "here I am" } });
    await fixture.save("in", { reply_mode: "response" });
    await n8n.shut();
    // More than the gateway calls at once.
    const people = Array.from({ length: 12 }, () => newPerson());
    for (const person of people) await story.receive(person, "are you there?");
    n8n.boot("no_database");
    await n8n.open();
    for (const phase of ["migrating", "no_workflows", undefined] as const) {
      const { last_error_at } = await fixture.read();
      await waitUntil(async () => {
        await story.gateway.advance(12_000);
        return (await fixture.read()).last_error_at !== last_error_at;
      });
      n8n.boot(phase);
    }
    await waitUntil(async () => {
      await story.gateway.advance(12_000);
      const heard = await Promise.all(people.map((person) => story.receivedSoFar(person)));
      return heard.every((texts) => texts.length > 0);
    });
    await story.waitUntilIdle();
    for (const person of people) expect(await story.receivedSoFar(person)).toEqual(["here I am"]);
    expect(n8n.executions).toHaveLength(people.length);
    const shown = { status: "ok", last_error_is_past: true, paused_until: null };
    expect(await fixture.read()).toMatchObject(shown);
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
    await story.gateway.advance(12_000);
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
