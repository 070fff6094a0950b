import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { SAMPLE } from "../../../../test/sample-files.ts";
import { ask, bubble, type FlowStep } from "../../../../test/servers/typebot-server.ts";
import { newPerson, waitUntil } from "../../../../test/stories/integration-story.ts";
import { setUpTypebotStory } from "../../../../test/stories/typebot-story.ts";

const PICTURE = { media: { base64: SAMPLE.png.toString("base64"), mime_type: "image/png" } };
const BAD_GATEWAY = { status: 502, body: "<html>502 Bad Gateway</html>" };
const MAINTENANCE = { status: 200, body: "<html>Back in a minute</html>" };
const UNAUTHORISED = { status: 401, body: '{"code":"UNAUTHORIZED","message":"Unauthorized"}' };
const FORBIDDEN = { status: 403, body: '{"code":"FORBIDDEN","message":"Origin not allowed"}' };
/** The longest retry delay, with jitter, during a short outage. */
const LONGEST_WAIT_MS = 12_000;
const FLOW: FlowStep[] = [
  bubble("a", "one"),
  ask("x"),
  bubble("b", "two"),
  ask("y"),
  bubble("c", "three"),
  ask("z"),
];

describe("a bot that is unavailable", () => {
  const fixture = setUpTypebotStory();

  test.each([
    ["an immediate 502", BAD_GATEWAY],
    ["a page with status 200", MAINTENANCE],
  ])("receives the text again after its proxy responded with %s during a restart", async (_, said) => {
    const { story, typebot } = fixture;
    await fixture.serve(FLOW);
    const [ana, bia] = [newPerson(), newPerson()];
    await fixture.talk(ana, "hi", 1);
    typebot.trouble(said, 4);
    await story.receive(ana, "first answer");
    await story.receive(bia, "hello");
    await waitUntil(async () => {
      await story.gateway.advance(15_000);
      return (await story.receivedSoFar(ana)).length === 2 && (await story.receivedSoFar(bia)).length === 1;
    });
    expect(await story.receivedSoFar(ana)).toEqual(["one", "two"]);
    expect([...typebot.sessions.values()].slice(-2).map(({ at }) => at)).toEqual([3, 1]);
    expect((await fixture.read()).status).toBe("ok");
  });

  test("is retried at least every 12 seconds, also by a flow that continues by itself", async () => {
    const { story, typebot } = fixture;
    const wait = { type: "wait", wait: { secondsToWaitFor: 1 }, expectsDedicatedReply: true };
    await fixture.serve([
      bubble("a", "one"),
      { action: wait },
      bubble("b", "two"),
      ask("x"),
      bubble("c", "three"),
    ]);
    const [ana, bia] = [newPerson(), newPerson()];
    await fixture.talk(ana, "hi", 1);
    await typebot.shut();
    await story.receive(bia, "hello");
    for (let tries = 1; tries <= 7; tries++) {
      await story.gateway.advance(600_000);
      await fixture.failed(tries);
      expect(await fixture.longestWaitMs()).toBeLessThanOrEqual(LONGEST_WAIT_MS);
    }
    await typebot.open();
    await waitUntil(async () => {
      await story.gateway.advance(600_000);
      return (await story.receivedSoFar(bia)).length === 2;
    });
    expect(await story.receivedBy(ana, 2)).toEqual(["one", "two"]);
    expect(await story.receivedSoFar(bia)).toEqual(["one", "two"]);
  });

  test.each([
    ["a start", UNAUTHORISED],
    ["a start", FORBIDDEN],
    ["an answer", UNAUTHORISED],
    ["an answer", FORBIDDEN],
  ])("receives %s that it rejected with %j once the credentials are right", async (what, refusal) => {
    const { story, typebot } = fixture;
    await fixture.serve(FLOW, { api_token: "right" });
    const ana = newPerson();
    if (what === "an answer") await fixture.talk(ana, "hi", 1);
    typebot.reset();
    typebot.refuse(refusal, "right");
    await fixture.save({ api_token: "wrong" });
    for (const text of ["first", "second"]) await story.receive(ana, text);
    await waitUntil(async () => (await fixture.read()).status === "auth_error");
    await story.gateway.advance(20 * 3_600_000);
    await fixture.failed(0);
    expect((await fixture.read()).waiting).toBe(2);
    await fixture.save({ api_token: "right" });
    const heard = what === "an answer" ? ["one", "two", "three"] : ["one", "two"];
    expect(await story.receivedBy(ana, heard.length)).toEqual(heard);
    expect(typebot.inputs("right")).toEqual(["first", "second"]);
    await waitUntil(async () => (await fixture.read()).status === "ok");
  });

  test("serves every chat once a test call succeeds, and a rejected test call pauses no chat", async () => {
    const { story, typebot } = fixture;
    await fixture.serve(FLOW, { api_token: "wrong" });
    const [ana, bia] = [newPerson(), newPerson()];
    typebot.trouble(UNAUTHORISED, 100);
    await story.receive(ana, "hi");
    await waitUntil(async () => (await fixture.read()).status === "auth_error");
    await story.refusedFor("10 minutes");
    expect((await fixture.test()).success).toBe(false);
    expect((await fixture.read()).paused_until).toBeNull();
    await story.gateway.advance(600_000);
    await waitUntil(async () => (await fixture.read()).paused_until !== null);
    await story.receive(bia, "hello");
    typebot.reset();
    expect((await fixture.test()).success).toBe(true);
    expect(await story.receivedBy(ana, 1)).toEqual(["one"]);
    expect(await story.receivedBy(bia, 1)).toEqual(["one"]);
    expect(await fixture.read()).toMatchObject({ status: "ok", paused_until: null });
  });
});

describe("messages that are joined for the bot", () => {
  const fixture = setUpTypebotStory();
  const NOT_FOUND = '{"defined":true,"code":"NOT_FOUND","status":404,"message":"Credentials not found"}';

  /** Brings Ana to an input of a flow that joins quick messages. */
  async function begin(flow = FLOW): Promise<string> {
    const ana = newPerson();
    await fixture.serve(flow, { debounce_ms: 10_000 });
    await fixture.story.receive(ana, "hi");
    await fixture.settle();
    return ana;
  }

  test.each([
    ["was lost", "lose_response"],
    ["was a 500", { status: 500 }],
    ["was a 404", { status: 404, body: NOT_FOUND }],
  ] as const)("are not sent to the bot a second time if the response %s", async (_, trouble) => {
    const { story, typebot } = fixture;
    const ana = await begin();
    typebot.trouble(trouble, 1, /continueChat/);
    for (const text of ["first", "second"]) await story.receive(ana, text);
    await fixture.settle();
    expect(typebot.inputs()).toEqual(["hi", "first\nsecond"]);
  });

  test("are sent once if the bot was unavailable", async () => {
    const { story, typebot } = fixture;
    const ana = await begin();
    typebot.trouble({ status: 503 }, 2, /continueChat/);
    for (const text of ["first", "second"]) await story.receive(ana, text);
    await fixture.settle();
    expect(typebot.inputs()).toEqual(["hi", ...Array.from({ length: 3 }, () => "first\nsecond")]);
    expect(await story.receivedBy(ana, 2)).toEqual(["one", "two"]);
  });

  test("do not include messages written after a request with an unknown outcome", async () => {
    const { story, typebot } = fixture;
    const ana = await begin();
    for (const text of ["first", "second"]) await story.receive(ana, text);
    await fixture.settle();
    await dieOverTheLastCall(ana, ["first", "second"]);
    await story.receive(ana, "third");
    await fixture.settle();
    expect(typebot.inputs()).toEqual(["hi", "first\nsecond", "third"]);
    expect((await fixture.read()).last_error).toMatch(/response was lost/);
  });

  /** Restores the state of a process that dies during the request with these texts. */
  async function dieOverTheLastCall(person: string, texts: string[]): Promise<void> {
    const { db } = fixture.story.gateway.database;
    const isOne = sql`event.event = 'message.received' and event.chat = ${`${person}@s.whatsapp.net`}
      and convert_from(event.body, 'UTF8')::jsonb -> 'data' -> 'message' ->> 'text' = any(${texts})`;
    await sql`
      update integration_link set status = 'claimed' where message_id in (
        select convert_from(body, 'UTF8')::jsonb -> 'data' -> 'message' ->> 'message_id' from event where ${isOne})`.execute(
      db,
    );
    await sql`
      insert into job (lane, prio, pos, grp, run_at, ref)
      select g.lane, 1, sequence, chat, now() + interval '1 minute',
        jsonb_build_object('do', 'event', 'integration', g.id, 'event_id', event_id, 'at', event.created_at)
      from event, integration g where ${isOne} order by sequence`.execute(db);
  }
});

describe("files that the bot did not ask for", () => {
  const fixture = setUpTypebotStory();
  const VOICE = {
    media: { base64: Buffer.alloc(64).toString("base64"), type: "ptt", mime_type: "audio/ogg" },
  };
  const NO_FILES = "Sorry, I can only read text here.";

  test("are not hidden by a voice note that the bot accepts", async () => {
    const { story, typebot } = fixture;
    await fixture.serve([
      bubble("a", "say it"),
      ask("t", "text input", { audioClip: { isEnabled: true } }),
      bubble("b", "heard"),
      ask("u"),
    ]);
    const ana = newPerson();
    await fixture.talk(ana, "hi", 1);
    await fixture.save({ debounce_ms: 8_000 });
    await story.receive(ana, "", PICTURE);
    await story.receive(ana, "", VOICE);
    await fixture.settle();
    expect(await story.receivedBy(ana, 3)).toEqual(["say it", NO_FILES, "heard"]);
    expect(typebot.requests.at(-1)?.body.message).toMatchObject({ type: "audio" });
  });

  test("get a text as the reply if they cannot be fetched", async () => {
    const { story } = fixture;
    await fixture.serve([bubble("a", "photo?"), ask("f", "file input"), bubble("b", "thanks")]);
    const ana = newPerson();
    await fixture.talk(ana, "hi", 1);
    await sayWithoutFile(ana);
    await fixture.settle();
    expect(await story.receivedBy(ana, 2)).toEqual(["photo?\n\n📎", NO_FILES]);
  });

  /** Receives a picture that the gateway cannot download. */
  async function sayWithoutFile(from: string): Promise<void> {
    const { story } = fixture;
    const { db } = story.gateway.database;
    const { id } = story.shop;
    await sql`update integration set enabled = false where instance_id = ${id}`.execute(db);
    const message_id = await story.receive(from, "", PICTURE);
    await sql`update integration set enabled = true where instance_id = ${id}`.execute(db);
    const isIt = sql`event.event = 'message.received' and event.chat = ${`${from}@s.whatsapp.net`}
      and position(${message_id} in convert_from(event.body, 'UTF8')) > 0`;
    await sql`
      update event set body = convert_to(jsonb_set(convert_from(body, 'UTF8')::jsonb,
        '{data,message,media,id}', 'null')::text, 'UTF8') where ${isIt}`.execute(db);
    await sql`
      insert into job (lane, prio, pos, grp, ref)
      select g.lane, 1, sequence, chat,
        jsonb_build_object('do', 'event', 'integration', g.id, 'event_id', event_id, 'at', event.created_at)
      from event, integration g where ${isIt}`.execute(db);
  }
});
