import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SAMPLE } from "../../../../test/sample-files.ts";
import { type FileServer, startFileServer } from "../../../../test/servers/file-server.ts";
import {
  ask,
  bubble,
  choice,
  type FlowStep,
  type Trouble,
  type TypebotServer,
} from "../../../../test/servers/typebot-server.ts";
import { type IntegrationStory, newPerson, waitUntil } from "../../../../test/stories/integration-story.ts";
import { setUpTypebotStory } from "../../../../test/stories/typebot-story.ts";

const PICTURE = { media: { base64: SAMPLE.png.toString("base64"), mime_type: "image/png" } };
const NO_FILES = "Sorry, I can only read text here.";
const MENU = choice("menu", [
  { id: "i1", content: "Vendas" },
  { id: "i2", content: "Informações", value: "info" },
]);
const SHOP: FlowStep[] = [bubble("a", "Welcome"), MENU, bubble("b", "Name?"), ask("n"), bubble("c", "Bye")];
const SHOWN_MENU = "Welcome\n\n1. Vendas\n2. Informações";

const fixture = setUpTypebotStory({ WAYGATE_FFMPEG: "/no/such/ffmpeg" });
const { serve, read, talk, settle, lastError } = fixture;
let story: IntegrationStory;
let typebot: TypebotServer;
let files: FileServer;
beforeAll(async () => {
  ({ story, typebot } = fixture);
  files = await startFileServer();
});
afterAll(() => files.close());

const starts = () => typebot.requests.filter(({ path }) => path.endsWith("/startChat"));

/** Moves the bot's state in a chat `minutes` into the past. */
async function passTime(of: string, minutes: number) {
  for (const path of ["paused_until", "closed_until", "session,at"])
    await sql`
      update integration_chat set state = jsonb_set(state, ${`{${path}}`},
        to_jsonb((state #>> ${`{${path}}`})::timestamptz - ${minutes} * interval '1 minute'))
      where chat = ${`${of}@s.whatsapp.net`} and state #>> ${`{${path}}`} is not null`.execute(
      story.gateway.database.db,
    );
}

/** Queues all messages of a person for the bot again, optionally with changed text in the event. */
async function replay(from: string, change: [string, string] = ["", ""]) {
  const { db } = story.gateway.database;
  const isTheirs = sql`event.event = 'message.received' and event.chat = ${`${from}@s.whatsapp.net`}`;
  const { numAffectedRows } = await sql`
    update event set body = convert_to(replace(convert_from(body, 'UTF8'), ${change[0]}, ${change[1]}), 'UTF8')
    where ${isTheirs} and position(${change[0]} in convert_from(body, 'UTF8')) > 0`.execute(db);
  expect(numAffectedRows).toBeGreaterThan(0n);
  await sql`
    insert into job (lane, prio, pos, grp, ref)
    select g.lane, 1, sequence, chat,
      jsonb_build_object('do', 'event', 'integration', g.id, 'event_id', event_id, 'at', event.created_at)
    from event, integration g where ${isTheirs} order by sequence`.execute(db);
  await story.gateway.advance(0);
  await story.waitUntilIdle();
}

test("buttons can be a poll, which the person answers by a vote or by a text", async () => {
  await serve(SHOP, { choices: "poll" });
  const { id, client } = story.shop;
  for (const answer of ["vote", "text"]) {
    const from = newPerson();
    await talk(from, "hi", 1);
    const { rows } = await sql<{ message_id: string; poll: object }>`
      select message_id, content -> 'poll' as poll from message
      where jid = ${`${from}@s.whatsapp.net`} and content ? 'poll'`.execute(story.gateway.database.db);
    const [menu] = rows;
    expect(menu?.poll).toMatchObject({
      question: "Welcome",
      options: [{ text: "Vendas" }, { text: "Informações" }],
      selectable_count: 1,
    });
    const message_id = menu?.message_id ?? "";
    if (answer === "vote") await client.sandboxVote({ id, from, message_id, options: ["Informações"] });
    else await story.receive(from, "2");
    expect((await story.receivedBy(from, 2)).slice(1)).toEqual(["Name?"]);
    expect(await talk(from, "Ana", 3)).toEqual(["Bye"]);
  }
  const chosen = { type: "text", text: "Informações", metadata: { replyId: "i2" } };
  const isChoice = ({ body }: (typeof typebot.requests)[number]) => JSON.stringify(body).includes("replyId");
  expect(typebot.requests.filter(isChoice).map(({ body }) => body.message)).toEqual([chosen, chosen]);
});

test("a flow accepts choices by number and without accents, and starts again after its end", async () => {
  await serve(SHOP);
  const ana = newPerson();
  expect(await talk(ana, "hi", 1, { push_name: "Ana" })).toEqual([SHOWN_MENU]);
  expect(await talk(ana, "INFORMACOES", 2)).toEqual(["Name?"]);
  expect(await talk(ana, "Ana", 3)).toEqual(["Bye"]);
  expect(await talk(ana, "thanks", 4)).toEqual([SHOWN_MENU]);
  expect(await talk(ana, "7", 5)).toEqual([
    "Invalid message. Please, try again.\n\n1. Vendas\n2. Informações",
  ]);
  expect(await talk(ana, "1", 6)).toEqual(["Name?"]);
  expect(typebot.inputs()).toEqual(["hi", "Informações", "Ana", "thanks", "7", "Vendas"]);
  const [start, chosen] = typebot.requests;
  expect(start?.body).toMatchObject({ isStreamEnabled: false, textBubbleContentFormat: "richText" });
  expect(start?.body.prefilledVariables).toMatchObject({
    phone: ana,
    pushName: "Ana",
    firstMessage: "hi",
    isGroup: false,
  });
  expect(JSON.stringify(start?.body)).not.toContain(story.shop.api_key);
  expect(start?.headers.origin).toBeUndefined();
  expect(chosen?.body.message).toEqual({ type: "text", text: "Informações", metadata: { replyId: "i2" } });
  expect((await read()).status).toBe("ok");
});

test("quick messages are sent to the bot in order, and a duplicate is sent once", async () => {
  await serve([bubble("a", "one"), ask("x"), bubble("b", "two"), ask("y"), bubble("c", "three"), ask("z")]);
  const ana = newPerson();
  await story.receive(ana, "1");
  await story.receive(ana, "2");
  await story.receive(ana, "3");
  expect(await story.receivedBy(ana, 3)).toEqual(["one", "two", "three"]);
  await replay(ana);
  expect(typebot.inputs()).toEqual(["1", "2", "3"]);
  expect(await story.receivedSoFar(ana)).toEqual(["one", "two", "three"]);
});

test("quick messages are joined into one if that is configured, and their files with them", async () => {
  const take = ask("t", "text input", { attachments: { isEnabled: true } });
  await serve([bubble("a", "tell me"), take, ask("u")], { debounce_ms: 10_000 });
  const ana = newPerson();
  for (const text of ["first", "second"]) await story.receive(ana, text);
  await settle();
  expect(await story.receivedBy(ana, 1)).toEqual(["tell me"]);
  for (const caption of ["front", "back"])
    await story.receive(ana, "", { media: { ...PICTURE.media, caption } });
  await settle();
  expect(typebot.inputs()[0]).toEqual("first\nsecond");
  expect(typebot.requests).toHaveLength(2);
  expect(typebot.requests[1]?.body.message).toMatchObject({
    text: "front\nback",
    attachedFileUrls: [expect.stringMatching(/file\.png$/), expect.stringMatching(/file\.png$/)],
  });
});

test("groups, own messages, ignored numbers and unreadable messages do not start a flow", async () => {
  const ana = newPerson();
  await serve(SHOP, { ignore_jids: [`${ana}@s.whatsapp.net`] });
  const bia = newPerson();
  await story.receive(ana, "hi");
  await story.receive(bia, "hi", { group_jid: "120363000000000002@g.us" });
  await story.receive(bia, "hi", { from_me: true });
  await story.receive(bia, "", { text: undefined, unsupported: { kind: "placeholder", reason: "masked" } });
  await story.waitUntilIdle();
  expect(typebot.requests).toEqual([]);
});

test.each([
  ["waited while the gateway was offline", '"data":{"message"', '"data":{"offline":true,"message"'],
  [
    "was written long before it arrived",
    '"status":"received","origin":"contact","timestamp":"20',
    '"status":"received","origin":"contact","timestamp":"19',
  ],
])("a message that %s does not start a flow", async (_, from, to) => {
  const ana = newPerson();
  await story.receive(ana, "old");
  await serve(SHOP);
  await replay(ana, [from, to]);
  expect(typebot.requests).toEqual([]);
  await story.receive(ana, "new");
  expect(await story.receivedBy(ana, 1)).toHaveLength(1);
});

test("keywords start, stop and restart a flow", async () => {
  await serve(SHOP, {
    trigger: "keyword",
    trigger_operator: "contains",
    trigger_value: "preço",
    stop_keywords: ["#sair"],
    restart_keywords: ["menu"],
    goodbye_message: "Até logo",
  });
  const ana = newPerson();
  await story.receive(ana, "hello");
  expect(await talk(ana, "qual o PRECO?", 1)).toEqual([SHOWN_MENU]);
  await talk(ana, "1", 2);
  expect(await talk(ana, "Menu", 3)).toEqual([SHOWN_MENU]);
  expect(await talk(ana, "#SAIR ", 4)).toEqual(["Até logo"]);
  await story.receive(ana, "1");
  await story.waitUntilIdle();
  expect(typebot.inputs()).toEqual(["qual o PRECO?", "Vendas", undefined]);
});

test("a saved trigger with a lookahead starts no flow and is reported", async () => {
  const trigger = { trigger: "keyword", trigger_operator: "regex" };
  await serve(SHOP, { ...trigger, trigger_value: "pre.o" });
  await sql`update integration set config = jsonb_set(config, '{trigger_value}', '"pre(?=.o)"')
    where instance_id = ${story.shop.id}`.execute(story.gateway.database.db);
  const ana = newPerson();
  await story.receive(ana, "qual o preço?");
  await lastError("(?=");
  expect(typebot.inputs()).toEqual([]);
});

test("an expired session starts anew, and a closed flow stays closed for its time only", async () => {
  await serve(SHOP, { session_expiry_minutes: 60, on_end: "keep_closed", keep_closed_for_minutes: 30 });
  const ana = newPerson();
  await talk(ana, "hi", 1);
  await passTime(ana, 61);
  expect(await talk(ana, "1", 2)).toEqual([SHOWN_MENU]);
  await talk(ana, "1", 3);
  await talk(ana, "Ana", 4);
  await story.receive(ana, "thanks");
  await story.waitUntilIdle();
  expect(await story.receivedSoFar(ana)).toHaveLength(4);
  await passTime(ana, 31);
  expect(await talk(ana, "again", 5)).toEqual([SHOWN_MENU]);
});

test("a flow that ends at its start is over, and the next message starts it again", async () => {
  await serve([bubble("a", "Closed today")]);
  const ana = newPerson();
  await talk(ana, "hi", 1);
  expect(await talk(ana, "hi?", 2)).toEqual(["Closed today"]);
  expect(typebot.requests.map(({ path }) => path.split("/").at(-1))).toEqual(["startChat", "startChat"]);
});

test("a reply from the phone pauses the bot, which later continues at the same step", async () => {
  typebot.publish("shop", SHOP);
  await serve([bubble("a", "Welcome"), ask("q"), bubble("b", "slow"), bubble("c", "slower"), ask("r")], {
    min_delay_ms: 60_000,
    max_delay_ms: 60_000,
    pause_on_human_minutes: 30,
  });
  const ana = newPerson();
  await talk(ana, "hi", 1);
  await talk(ana, "go", 2);
  await story.receive(ana, "I help you myself", { from_me: true });
  await waitUntil(async () => {
    const { rows } =
      await sql`select from integration_chat where chat = ${`${ana}@s.whatsapp.net`} and state ? 'paused_until'`.execute(
        story.gateway.database.db,
      );
    return rows.length === 1;
  });
  await story.receive(ana, "thank you");
  await story.waitUntilIdle();
  expect(await story.receivedSoFar(ana)).toEqual(["Welcome", "slow"]);
  expect(typebot.inputs()).toEqual(["hi", "go"]);
  await passTime(ana, 31);
  await story.receive(ana, "bot?");
  await waitUntil(() => typebot.inputs().length === 3);
  expect(typebot.requests.at(-1)?.path).toMatch(/continueChat$/);
});

test("a flow that waits continues by itself after the delay", async () => {
  const wait = { type: "wait", wait: { secondsToWaitFor: 60 }, expectsDedicatedReply: true };
  await serve([bubble("a", "one"), { action: wait }, bubble("b", "two"), ask("q")], { max_wait_seconds: 60 });
  const ana = newPerson();
  await story.receive(ana, "hi");
  await story.receivedBy(ana, 1);
  await settle();
  expect(await story.receivedBy(ana, 2)).toEqual(["one", "two"]);
  expect(typebot.requests[1]?.body.message).toBeUndefined();
});

test("steps for browsers are skipped, and a flow that loops forever is stopped", async () => {
  const script = { type: "setVariable", setVariable: {}, expectsDedicatedReply: true };
  await serve([bubble("a", "one"), { action: script }, bubble("b", "two"), ask("q")]);
  const ana = newPerson();
  await story.receive(ana, "hi");
  expect(await story.receivedBy(ana, 2)).toEqual(["one", "two"]);
  expect((await read()).last_error).toMatch(/step for browsers \(setVariable\)/);
  await serve(Array.from({ length: 40 }, () => ({ action: script })));
  await story.receive(newPerson(), "hi");
  await lastError("repeats itself");
  expect(typebot.requests.length).toBeLessThan(30);
});

test("a flow that listens for a webhook does not receive the user's text instead", async () => {
  await serve([
    bubble("a", "pay"),
    { action: { type: "listenForWebhook", expectsDedicatedReply: true } },
    bubble("b", "paid"),
  ]);
  const ana = newPerson();
  await talk(ana, "hi", 1);
  await story.receive(ana, "done");
  await story.waitUntilIdle();
  expect(typebot.requests).toHaveLength(1);
  expect((await read()).last_error).toMatch(/waits for a webhook/);
});

test("inputs that accept files receive links with extensions; other inputs get a text reply", async () => {
  await serve([
    bubble("a", "front?"),
    ask("f", "file input", { isRequired: true }),
    bubble("b", "back?"),
    ask("g", "file input"),
    bubble("c", "text?"),
    ask("t"),
    bubble("d", "end"),
  ]);
  const ana = newPerson();
  await talk(ana, "hi", 1);
  // Only the first two files of an album fit.
  for (let n = 0; n < 3; n++) await story.receive(ana, "", PICTURE);
  await settle();
  await story.waitUntilIdle();
  expect(await story.receivedSoFar(ana)).toEqual(["front?\n\n📎", "back?\n\n📎", "text?", NO_FILES]);
  const [, front, back] = typebot.inputs();
  for (const input of [front, back]) expect(input).toMatch(/^http.*\/media\/.*\/file\.png$/);
  expect(front).not.toBe(back);
  expect(await talk(ana, "", 5, { media: { ...PICTURE.media, caption: "look" } })).toEqual(["end"]);
  expect(typebot.inputs()[3]).toBe("look");
  const link = await fetch(`${story.gateway.url}${new URL(front ?? "").pathname}`);
  expect(link.headers.get("content-type")).toBe("image/png");
});

test("an input for several files receives a whole album in one reply", async () => {
  const take = ask("f", "file input", { isMultipleAllowed: true });
  await serve([bubble("a", "photos?"), take, bubble("b", "thanks"), ask("t"), bubble("c", "end")]);
  const ana = newPerson();
  await talk(ana, "hi", 1);
  await Promise.all([1, 2, 3].map(() => story.receive(ana, "", PICTURE)));
  await settle();
  expect(await story.receivedBy(ana, 2)).toEqual(["photos?\n\n📎", "thanks"]);
  await story.waitUntilIdle();
  expect(
    typebot
      .inputs()[1]
      ?.split(", ")
      .map((url) => url.replace(/^http.*\/media\/.*\//, "")),
  ).toEqual(["file.png", "file.png", "file.png"]);
  expect(new Set(typebot.inputs()[1]?.split(", ")).size).toBe(3);
  expect(await story.receivedSoFar(ana)).toHaveLength(2);
});

test("ten minutes without the bot lose and repeat no message, and each chat keeps its order", async () => {
  await serve([bubble("a", "one"), ask("x"), bubble("b", "two"), ask("y"), bubble("c", "three"), ask("z")]);
  const [ana, bia] = [newPerson(), newPerson()];
  await talk(ana, "0", 1);
  await typebot.shut();
  for (const text of ["1", "2"]) for (const one of [ana, bia]) await story.receive(one, text);
  await waitUntil(async () => (await read()).status === "failing");
  const { last_error_at } = await read();
  await story.gateway.advance(600_000);
  await waitUntil(async () => (await read()).last_error_at !== last_error_at);
  // During a restart the proxy responds first.
  typebot.trouble({ status: 404, body: "404 page not found\\n" }, 2);
  typebot.trouble({ status: 503 }, 2);
  await typebot.open();
  await waitUntil(async () => {
    await story.gateway.advance(600_000);
    return (await read()).waiting === 0;
  });
  expect(await story.receivedBy(ana, 3)).toEqual(["one", "two", "three"]);
  expect(await story.receivedBy(bia, 2)).toEqual(["one", "two"]);
});

test.each<[string, Trouble]>([
  ["was lost", "lose_response"],
  ["was a 500", { status: 500 }],
])("a text whose response %s is not sent again, and the flow continues with the next", async (_, trouble) => {
  await serve(SHOP);
  const ana = newPerson();
  await talk(ana, "hi", 1);
  typebot.trouble(trouble, 1, /continueChat/);
  await story.receive(ana, "1");
  await lastError("response was lost");
  await settle();
  expect(typebot.inputs()).toEqual(["hi", "Vendas"]);
  expect(await talk(ana, "Vendas", 2)).toHaveLength(1);
  expect(typebot.inputs()).toEqual(["hi", "Vendas", "Vendas"]);
});

test("a request that got 429 is retried", async () => {
  await serve(SHOP);
  const ana = newPerson();
  await talk(ana, "hi", 1);
  typebot.trouble({ status: 429, headers: { "retry-after": "3" } }, 1, /continueChat/);
  await story.receive(ana, "1");
  await waitUntil(() => typebot.requests.length >= 2);
  await waitUntil(async () => (await read()).status === "failing");
  await story.gateway.advance(60_000);
  expect(await story.receivedBy(ana, 2)).toHaveLength(2);
  expect(typebot.inputs()).toEqual(["hi", "Vendas", "Vendas"]);
});

test("the test and the last error explain what is wrong", async () => {
  await serve(SHOP, { base_url: `${typebot.url}/api/` });
  expect(await fixture.test()).toMatchObject({ success: true, status_code: 200 });
  typebot.close_bot("shop");
  await story.receive(newPerson(), "hi");
  await lastError("This bot is now closed");
  expect(await fixture.test()).toMatchObject({ success: false, status_code: 400 });
  await serve(SHOP, { public_id: "nobody" });
  expect((await fixture.test()).message).toMatch(/no published bot "nobody"/);
  typebot.trouble({ status: 200, body: "<html></html>" });
  expect((await fixture.test()).message).toMatch(/did not come from a Typebot viewer/);
});

test("without ffmpeg an audio bubble that cannot become a voice note is sent as audio", async () => {
  const url = files.serve("/tone.mp3", (response) =>
    response.writeHead(200, { "content-type": "audio/mpeg" }).end(SAMPLE.mp3),
  );
  await serve([{ bubble: { id: "s", type: "audio", content: { url } } }, bubble("b", "after it"), ask("q")]);
  const ana = newPerson();
  await story.receive(ana, "hi");
  expect(await story.receivedBy(ana, 2)).toEqual(["[audio]", "after it"]);
});

test("files that cannot be fetched are skipped and reported without their addresses", async () => {
  const flow = ["image", "audio"].map((type) => ({
    bubble: { id: type, type, content: { url: files.at(`/no-such-${type}?signature=secret`) } },
  }));
  await serve([...flow, bubble("b", "after it"), ask("q")]);
  const ana = newPerson();
  await story.receive(ana, "hi");
  expect(await story.receivedBy(ana, 1)).toEqual(["after it"]);
  const { last_error } = await read();
  expect(last_error).toContain(`The file ${files.at("/no-such-audio")} of the reply was not sent.`);
  expect(last_error).not.toContain("secret");
});

test("the choices below a picture that cannot be fetched are kept", async () => {
  const items = [{ id: "p1", title: "Red", pictureSrc: files.at("/no-such.png") }];
  await serve([bubble("a", "Colour?"), { input: { id: "p", type: "picture choice input", items } }]);
  const ana = newPerson();
  await story.receive(ana, "hi");
  expect(await story.receivedBy(ana, 2)).toEqual(["Colour?", "1. *Red*"]);
});

test("a block of the flow that fails is reported with the reason, and restarts nothing", async () => {
  await serve([bubble("a", "Pay?"), ask("q"), bubble("b", "paid"), ask("r")]);
  const ana = newPerson();
  await talk(ana, "hi", 1);
  const body = '{"defined":true,"code":"NOT_FOUND","status":404,"message":"Credentials not found"}';
  typebot.trouble({ status: 404, body }, 1, /continueChat/);
  await story.receive(ana, "yes");
  await lastError("Credentials not found");
  expect((await read()).last_error).not.toContain("published");
  expect(await talk(ana, "yes!", 2)).toEqual(["paid"]);
  expect(starts()).toHaveLength(1);
});

test.each(["Session not found.", "Session expired. You need to start a new session."])(
  "a session that the bot has lost starts again with the same text, without a failure: %j",
  async (message) => {
    await serve([bubble("a", "one"), ask("q"), bubble("b", "two"), ask("r")]);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    const body = JSON.stringify({ defined: true, code: "NOT_FOUND", status: 404, message });
    typebot.trouble({ status: 404, body }, 1, /continueChat/);
    expect(await talk(ana, "more", 2)).toEqual(["one"]);
    expect(await read()).toMatchObject({ status: "ok", last_error: expect.stringContaining(message) });
  },
);

test.each(["lose_response", "break_off"] as const)(
  "a start with an incomplete response is repeated once: %s",
  async (trouble) => {
    await serve([bubble("a", "one"), ask("q")]);
    const ana = newPerson();
    typebot.trouble(trouble, 1, /startChat/);
    await story.receive(ana, "hi");
    await waitUntil(() => starts().length === 1);
    await waitUntil(async () => {
      await story.gateway.advance(60_000);
      return (await story.receivedSoFar(ana)).length === 1;
    });
    expect(starts()).toHaveLength(2);
  },
);

test("a start that failed twice is not repeated, and the next message starts the flow", async () => {
  await serve([bubble("a", "one"), ask("q")]);
  const bia = newPerson();
  typebot.trouble({ status: 500 }, 9, /startChat/);
  await story.receive(bia, "hi");
  await waitUntil(async () => {
    await story.gateway.advance(600_000);
    return (await read()).waiting === 0;
  });
  expect(starts()).toHaveLength(2);
  typebot.reset();
  expect(await talk(bia, "hello?", 1)).toEqual(["one"]);
});
