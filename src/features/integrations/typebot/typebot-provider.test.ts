import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type IntegrationStory,
  newPerson,
  startIntegrationStory,
  waitUntil,
} from "../../../../test/integration-story.ts";
import {
  ask,
  bubble,
  choice,
  type FlowStep,
  startTypebot,
  type TypebotServer,
} from "../../../../test/typebot-server.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MENU = choice("menu", [
  { id: "i1", content: "Vendas" },
  { id: "i2", content: "Informações", value: "info" },
]);
const SHOP: FlowStep[] = [bubble("a", "Welcome"), MENU, bubble("b", "Name?"), ask("n"), bubble("c", "Bye")];

describe("Typebot", () => {
  let story: IntegrationStory;
  let typebot: TypebotServer;

  beforeAll(async () => {
    [story, typebot] = await Promise.all([startIntegrationStory(), startTypebot()]);
  });
  afterAll(async () => {
    await story.stop();
    await typebot.shut();
  });
  afterEach(async () => {
    await story.shop.client.deleteIntegration({ id: story.shop.id, provider: "typebot" }).catch(() => {});
    typebot.reset();
  });

  async function serve(flow: FlowStep[], config: Record<string, unknown> = {}) {
    typebot.publish("shop", flow);
    const { data } = await story.shop.client.saveIntegration({
      id: story.shop.id,
      provider: "typebot",
      config: { base_url: typebot.url, public_id: "shop", ...config },
    });
    return data;
  }

  async function read() {
    return (await story.shop.client.getIntegration({ id: story.shop.id, provider: "typebot" })).data;
  }

  async function passTime(of: string, minutes: number) {
    const { db } = story.gateway.database;
    await sql`
      update integration_chat set state = jsonb_set(jsonb_set(state, '{paused_until}',
          to_jsonb((state ->> 'paused_until')::timestamptz - ${minutes} * interval '1 minute')),
        '{session,at}', to_jsonb((state -> 'session' ->> 'at')::timestamptz - ${minutes} * interval '1 minute'))
      where chat = ${`${of}@s.whatsapp.net`} and state ? 'paused_until' and state ? 'session'`.execute(db);
    await sql`
      update integration_chat set state = jsonb_set(state, '{session,at}',
        to_jsonb((state -> 'session' ->> 'at')::timestamptz - ${minutes} * interval '1 minute'))
      where chat = ${`${of}@s.whatsapp.net`} and not state ? 'paused_until' and state ? 'session'`.execute(
      db,
    );
    await sql`
      update integration_chat set state = jsonb_set(state, '{closed_until}',
        to_jsonb((state ->> 'closed_until')::timestamptz - ${minutes} * interval '1 minute'))
      where chat = ${`${of}@s.whatsapp.net`} and state ? 'closed_until'`.execute(db);
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

  const talk = async (from: string, text: string, count: number, more = {}) => {
    await story.receive(from, text, more);
    return (await story.receivedBy(from, count)).slice(count - 1);
  };

  test("a flow accepts choices by number and without accents, and starts again after its end", async () => {
    await serve(SHOP);
    const ana = newPerson();
    expect(await talk(ana, "hi", 1, { push_name: "Ana" })).toEqual(["Welcome\n\n1. Vendas\n2. Informações"]);
    expect(await talk(ana, "INFORMACOES", 2)).toEqual(["Name?"]);
    expect(await talk(ana, "Ana", 3)).toEqual(["Bye"]);
    expect(await talk(ana, "thanks", 4)).toEqual(["Welcome\n\n1. Vendas\n2. Informações"]);
    expect(await talk(ana, "1", 5)).toEqual(["Name?"]);
    expect(typebot.inputs()).toEqual(["hi", "Informações", "Ana", "thanks", "Vendas"]);
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

  test("the bot replies to an invalid choice with the list again", async () => {
    await serve(SHOP);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    expect(await talk(ana, "7", 2)).toEqual([
      "Invalid message. Please, try again.\n\n1. Vendas\n2. Informações",
    ]);
  });

  test("two quick messages are sent to the bot in order, and a duplicate is sent once", async () => {
    await serve([bubble("a", "one"), ask("x"), bubble("b", "two"), ask("y"), bubble("c", "three"), ask("z")]);
    typebot.latency(50);
    const ana = newPerson();
    await story.receive(ana, "1");
    await story.receive(ana, "2");
    await story.receive(ana, "3");
    expect(await story.receivedBy(ana, 3)).toEqual(["one", "two", "three"]);
    await replay(ana);
    expect(typebot.inputs()).toEqual(["1", "2", "3"]);
    expect(await story.receivedSoFar(ana)).toEqual(["one", "two", "three"]);
  });

  test("quick messages are joined into one if that is configured", async () => {
    await serve([bubble("a", "one"), ask("x")], { debounce_ms: 5_000 });
    const ana = newPerson();
    await story.receive(ana, "first");
    await story.receive(ana, "second");
    expect(await story.receivedBy(ana, 1)).toEqual(["one"]);
    await story.waitUntilIdle();
    expect(typebot.inputs()).toEqual(["first\nsecond"]);
  });

  test("groups, own messages, ignored numbers and old messages do not start a flow", async () => {
    const ana = newPerson();
    await serve(SHOP, { ignore_jids: [`${ana}@s.whatsapp.net`] });
    const bia = newPerson();
    await story.receive(ana, "hi");
    await story.receive(bia, "hi", { group_jid: "120363000000000002@g.us" });
    await story.receive(bia, "hi", { from_me: true });
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
    expect(await talk(ana, "qual o PRECO?", 1)).toEqual(["Welcome\n\n1. Vendas\n2. Informações"]);
    await talk(ana, "1", 2);
    expect(await talk(ana, "Menu", 3)).toEqual(["Welcome\n\n1. Vendas\n2. Informações"]);
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
    await waitUntil(async () => (await read()).last_error?.includes("(?="));
    expect(typebot.inputs()).toEqual([]);
  });

  test("an expired session starts anew, and a closed flow stays closed for its time only", async () => {
    await serve(SHOP, { session_expiry_minutes: 60, on_end: "keep_closed", keep_closed_for_minutes: 30 });
    const ana = newPerson();
    await talk(ana, "hi", 1);
    await passTime(ana, 61);
    expect(await talk(ana, "1", 2)).toEqual(["Welcome\n\n1. Vendas\n2. Informações"]);
    await talk(ana, "1", 3);
    await talk(ana, "Ana", 4);
    await story.receive(ana, "thanks");
    await story.waitUntilIdle();
    expect(await story.receivedSoFar(ana)).toHaveLength(4);
    await passTime(ana, 31);
    expect(await talk(ana, "again", 5)).toEqual(["Welcome\n\n1. Vendas\n2. Informações"]);
  });

  test("a flow that ends at its start is over, and the next message starts it again", async () => {
    await serve([bubble("a", "Closed today")]);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    expect(await talk(ana, "hi?", 2)).toEqual(["Closed today"]);
    expect(typebot.requests.map(({ path }) => path.split("/").at(-1))).toEqual(["startChat", "startChat"]);
  });

  test("a session that the bot has lost starts again with the same text", async () => {
    await serve([ask("q"), bubble("a", "Got it"), ask("r")]);
    const ana = newPerson();
    await talk(ana, "first", 1);
    (typebot.sessions as Map<string, unknown>).clear();
    expect(await talk(ana, "second", 2)).toEqual(["Got it"]);
    expect(typebot.inputs()).toEqual(["first", "second", "second"]);
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
    await serve([bubble("a", "one"), { action: wait }, bubble("b", "two"), ask("q")], {
      max_wait_seconds: 1,
    });
    const ana = newPerson();
    await story.receive(ana, "hi");
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
    await waitUntil(async () => (await read()).last_error?.includes("repeats itself"));
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
    const media = { base64: PNG, mime_type: "image/png" };
    await serve([
      bubble("a", "photo?"),
      ask("f", "file input", { isRequired: true }),
      bubble("b", "text?"),
      ask("t"),
      bubble("c", "end"),
    ]);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    expect(await talk(ana, "", 2, { media })).toEqual(["text?"]);
    expect(typebot.inputs()[1]).toMatch(/^http.*\/media\/.*\/file\.png$/);
    expect(await talk(ana, "", 3, { media })).toEqual(["Sorry, I can only read text here."]);
    expect(await talk(ana, "", 4, { media: { ...media, caption: "look" } })).toEqual(["end"]);
    expect(typebot.inputs()[2]).toBe("look");
    const link = await fetch(`${story.gateway.url}${new URL(typebot.inputs()[1] ?? "").pathname}`);
    expect(link.headers.get("content-type")).toBe("image/png");
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

  test("a lost response is not requested again, and the flow continues with the next message", async () => {
    await serve(SHOP);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    typebot.trouble("lose_answer", 1, /continueChat/);
    await story.receive(ana, "1");
    await waitUntil(async () => (await read()).last_error?.includes("response was lost"));
    await story.gateway.advance(600_000);
    await story.waitUntilIdle();
    expect(typebot.inputs()).toEqual(["hi", "Vendas"]);
    expect(await talk(ana, "Ana", 2)).toEqual(["Bye"]);
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

  test("a text that got 500 is not sent to the bot again, and the next message continues", async () => {
    await serve(SHOP);
    const ana = newPerson();
    await talk(ana, "hi", 1);
    typebot.trouble({ status: 500 }, 1, /continueChat/);
    await story.receive(ana, "1");
    await waitUntil(async () => (await read()).last_error?.includes("response was lost"));
    await story.gateway.advance(600_000);
    await story.waitUntilIdle();
    expect(typebot.inputs()).toEqual(["hi", "Vendas"]);
    expect(await talk(ana, "Vendas", 2)).toEqual(["Name?"]);
  });

  test("the test and the last error explain what is wrong", async () => {
    const tryOut = async () =>
      (await story.shop.client.testIntegration({ id: story.shop.id, provider: "typebot" })).data;
    await serve(SHOP, { base_url: `${typebot.url}/api/` });
    expect(await tryOut()).toMatchObject({ success: true, status_code: 200 });
    typebot.close_bot("shop");
    await story.receive(newPerson(), "hi");
    await waitUntil(async () => (await read()).last_error?.includes("This bot is now closed"));
    expect(await tryOut()).toMatchObject({ success: false, status_code: 400 });
    await serve(SHOP, { public_id: "nobody" });
    expect((await tryOut()).message).toMatch(/no published bot "nobody"/);
    typebot.trouble({ status: 200, body: "<html></html>" });
    expect((await tryOut()).message).toMatch(/did not come from a Typebot viewer/);
  });
});
