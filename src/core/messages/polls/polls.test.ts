import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../../../test/gateway.ts";
import { type MessagingStory, startMessagingStory } from "../../../../test/stories/messaging-story.ts";
import { pollOptionId } from "../../../network/content/poll.ts";
import { selectVotes } from "./list-votes.ts";

const ANA = "5511977771234";
const BIA = "5511966661234";
const CAIO = "5511955551234";

let story: MessagingStory;
let group: string;

beforeAll(async () => {
  story = await startMessagingStory();
  const { id, client } = story.sales;
  const { data: webhook } = await client.createWebhook({
    id,
    name: "Votes",
    url: story.receiver.url,
    events: ["poll.voted"],
  });
  story.receiver.trust(webhook.secret);
  const made = await client.sandboxGroup({ id, from: ANA, subject: "Team", participants: [BIA, CAIO] });
  group = made.data.jid;
});
afterAll(() => story.stop());

const LUNCH = { question: "Lunch?", options: ["Pizza", "Sushi", "Salad"] };
const idsOf = (...texts: string[]) => texts.map((text) => ({ id: pollOptionId(text), text }));

async function send(to: string, more: object = {}): Promise<string> {
  const { id, client } = story.sales;
  const { data } = await client.sendPoll({ id, jid: to, ...LUNCH, ...more });
  return data.message_id ?? "";
}

/** Resolves with the nth vote of the poll, once its event has been delivered. */
async function vote(
  messageId: string,
  from: string,
  options: string[],
  nth = 1,
  where: object = { group_jid: group },
) {
  await story.sales.client.sandboxVote({
    id: story.sales.id,
    from,
    message_id: messageId,
    options,
    ...where,
  });
  const found = await story.receiver.waitFor(
    ({ body }) => body.event === "poll.voted" && body.data.message_id === messageId,
    nth,
  );
  return found[nth - 1]?.body.data;
}

async function votesOn(messageId: string) {
  return (await story.sales.client.listVotes({ id: story.sales.id, messageId })).data;
}

async function rowOf(messageId: string): Promise<number> {
  return (await story.sales.client.getMessage({ id: story.sales.id, messageId })).data.id;
}

describe("a poll", () => {
  test("is sent with its options, and has no votes yet", async () => {
    const { id, client } = story.sales;
    const { data } = await client.sendPoll({ id, number: ANA, ...LUNCH });
    expect(data).toMatchObject({ status: "sent", poll: { options: idsOf("Pizza", "Sushi", "Salad") } });
    const messageId = data.message_id ?? "";
    expect(await votesOn(messageId)).toEqual({
      question: "Lunch?",
      options: idsOf("Pizza", "Sushi", "Salad").map((option) => ({ ...option, count: 0, voters: [] })),
      voters: 0,
      ends_at: null,
    });
    const [arrival] = await story.ledger({ action: "send", message_id: messageId });
    expect(arrival?.content.poll).toMatchObject({ question: "Lunch?", selectable_count: 1 });
  });

  test("can be queued, under the names that other gateways give its fields", async () => {
    const { status, body } = await story.request(`POST /api/v1/instances/${story.sales.id}/send-poll`, {
      number: ANA,
      name: "Dinner?",
      values: ["Soup", "Stew"],
      selectableCount: 2,
      async: true,
    });
    expect(status).toBe(202);
    expect(body.data.poll).toEqual({ options: idsOf("Soup", "Stew") });
    const { data } = await story.sales.client.getMessage({
      id: story.sales.id,
      messageId: body.data.message_id,
    });
    expect(data).toMatchObject({
      text: "Dinner?\n1. Soup\n2. Stew",
      poll: { question: "Dinner?", selectable_count: 2, hide_voters: false, ends_at: null },
    });
    await story.outcome(body.data.message_id);
  });

  const option = "x".repeat(101);
  test.each([
    ["two equal options", { options: ["Pizza", "Sushi", " Pizza "] }, "options", "duplicate"],
    ["one option", { options: ["Pizza"] }, "options", "too_few"],
    ["13 options", { options: Array.from({ length: 13 }, (_, i) => `${i}`) }, "options", "too_many"],
    ["an option of 101 characters", { options: ["Pizza", option] }, "options.1", "too_long"],
    ["an empty option", { options: ["Pizza", " "] }, "options.1", "empty"],
    ["a question of 256 characters", { question: "x".repeat(256) }, "question", "too_long"],
    ["an end in the past", { ends_at: "2020-01-01T00:00:00Z" }, "ends_at", "too_low"],
    ["more choices than options", { selectable_count: 4 }, "selectable_count", "too_high"],
    [
      "one of several choices",
      { multiple: true, selectable_count: 1 },
      "selectable_count",
      "not_allowed_here",
    ],
  ])("with %s is refused before anything is queued", async (_, more, field, code) => {
    const before = await story.rows();
    const { id, client } = story.sales;
    await expect(client.sendPoll({ id, number: ANA, ...LUNCH, ...more, async: true })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field, code }] },
    });
    expect(await story.rows()).toEqual(before);
  });

  test("is the only message that has votes", async () => {
    const { id, client } = story.sales;
    const { data } = await client.sendText({ id, number: ANA, text: "Lunch?" });
    await expect(votesOn(data.message_id ?? "")).rejects.toMatchObject({
      code: "CONFLICT",
      details: { reason: "not_a_poll" },
    });
  });
});

describe("votes", () => {
  test("count once per person, and only the latest", async () => {
    const poll = await send(group);
    expect(await vote(poll, ANA, ["Pizza"], 1)).toMatchObject({
      message_id: poll,
      jid: group,
      voter: { phone: ANA },
      options: idsOf("Pizza"),
      message: { poll: { question: "Lunch?" }, from_me: true },
    });
    await vote(poll, BIA, ["Pizza"], 2);
    await vote(poll, ANA, ["Sushi"], 3);
    await vote(poll, CAIO, ["Salad"], 4);
    expect(await vote(poll, CAIO, [], 5)).toMatchObject({ voter: { phone: CAIO }, options: [] });
    const { options, voters } = await votesOn(poll);
    expect(options.map(({ text, count }) => [text, count])).toEqual([
      ["Pizza", 1],
      ["Sushi", 1],
      ["Salad", 0],
    ]);
    expect(options[1]?.voters).toMatchObject([{ jid: `${ANA}@s.whatsapp.net`, phone: ANA }]);
    expect(voters).toBe(2);
  });

  test("may name several options if the poll allows it", async () => {
    const poll = await send(group, { multiple: true });
    await vote(poll, ANA, ["Pizza", "Salad"]);
    const { options, voters } = await votesOn(poll);
    expect(options.map(({ count }) => count)).toEqual([1, 0, 1]);
    expect(voters).toBe(1);
  });

  test("have no names if the poll hides them", async () => {
    const poll = await send(group, { hide_voters: true });
    expect(await vote(poll, ANA, ["Pizza"])).toMatchObject({ voter: null, options: idsOf("Pizza") });
    const { options, voters } = await votesOn(poll);
    expect(options[0]).toMatchObject({ count: 1, voters: [] });
    expect(voters).toBe(1);
  });

  test("of a person who becomes known under another address count once", async () => {
    const { id, client } = story.sales;
    const dora = "5511944441234";
    await client.sandboxContact({ id, from: dora, known: "lid" });
    await client.sandboxGroupParticipants({
      id,
      from: ANA,
      group_jid: group,
      action: "add",
      participants: [dora],
    });
    const poll = await send(group);
    expect(await vote(poll, dora, ["Pizza"], 1)).toMatchObject({ voter: { phone: null } });
    await client.sandboxContact({ id, from: dora, known: "phone" });
    await vote(poll, dora, ["Sushi"], 2);
    await client.sandboxContact({ id, from: dora, known: "both" });
    await waitUntil(async () => {
      const { options, voters } = await votesOn(poll);
      return voters === 1 && options[0]?.count === 0 && options[1]?.voters[0]?.phone === dora;
    });
  });

  test("on a poll of somebody else are counted too", async () => {
    const { id, client } = story.sales;
    const poll = { question: "Now?", options: ["Yes", "No"], selectable_count: 1 };
    const { data } = await client.sandboxReceive({ id, from: ANA, poll });
    await vote(data.message_id, ANA, ["No"], 1, {});
    await vote(data.message_id, ANA, ["Yes"], 2, { from_me: true });
    const { options } = await votesOn(data.message_id);
    expect(options.map(({ count }) => count)).toEqual([1, 1]);
  });

  test.each([
    ["for an option that is none", { options: ["Soup"] }, "options"],
    ["for two options where one is allowed", { options: ["Pizza", "Sushi"] }, "options"],
    ["of somebody who was never in the group", { from: "5511900001111" }, "from"],
  ])("%s are refused", async (_, wrong, field) => {
    const message_id = await send(group);
    const right = { id: story.sales.id, from: ANA, group_jid: group, message_id, options: ["Pizza"] };
    await expect(story.sales.client.sandboxVote({ ...right, ...wrong })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field, code: "not_found" }] },
    });
  });

  test("on what is no poll are refused", async () => {
    const message_id = "3EB0000000000000000000";
    const voting = story.sales.client.sandboxVote({
      id: story.sales.id,
      from: ANA,
      message_id,
      options: ["A"],
    });
    await expect(voting).rejects.toMatchObject({ code: "MESSAGE_NOT_FOUND" });
  });

  test("of somebody who has left stay, and no others follow", async () => {
    const { id, client } = story.sales;
    const poll = await send(group);
    await vote(poll, CAIO, ["Pizza"]);
    await client.sandboxGroupParticipants({
      id,
      from: ANA,
      group_jid: group,
      action: "remove",
      participants: [CAIO],
    });
    const again = client.sandboxVote({
      id,
      from: CAIO,
      group_jid: group,
      message_id: poll,
      options: ["Sushi"],
    });
    await expect(again).rejects.toMatchObject({ details: { fields: [{ field: "from" }] } });
    expect((await votesOn(poll)).options.map(({ count }) => count)).toEqual([1, 0, 0]);
  });

  test("on a poll with 100,000 of them are counted in one statement that reads no others", async () => {
    const { db } = story.gateway.database;
    const [poll, other] = [await send(group), await send(group)];
    for (const messageId of [poll, other])
      await sql`
        insert into poll_vote (message, person, account_id, instance_id, jid, lid, phone, options, at)
        select m.id, n || '@s.whatsapp.net', m.account_id, m.instance_id, n || '@s.whatsapp.net', n || '@lid', n,
          array[${pollOptionId("Pizza")}], now()
        from message m, generate_series(5511000000000, 5511000099999) n where m.message_id = ${messageId}`.execute(
        db,
      );
    await sql`analyze poll_vote`.execute(db);
    const { options, voters } = await votesOn(poll);
    expect([voters, options[0]?.count, options[0]?.voters.length]).toEqual([100_000, 100_000, 1_024]);
    const { rows } = await sql<{ "QUERY PLAN": [{ Plan: Plan }] }>`
      explain (analyze, format json) ${selectVotes(await rowOf(poll), [pollOptionId("Pizza")])}`.execute(db);
    expect(rowsRead(rows[0]?.["QUERY PLAN"][0].Plan)).toBe(100_000);
  });
});

interface Plan {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** Of the table of votes. */
function rowsRead(plan: Plan | undefined): number {
  if (!plan) return 0;
  const own =
    plan["Relation Name"] === "poll_vote" ? plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) : 0;
  return own + (plan.Plans ?? []).reduce((sum, one) => sum + rowsRead(one), 0);
}
