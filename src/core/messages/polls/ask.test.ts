import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MessagingStory, startMessagingStory } from "../../../../test/stories/messaging-story.ts";

let story: MessagingStory;
/** Each question has a chat of its own. */
let nth = 0;

beforeAll(async () => {
  story = await startMessagingStory();
  const { id, client } = story.sales;
  const hook = {
    id,
    name: "Answers",
    url: story.receiver.url,
    events: ["answer.received", "poll.voted"],
  } as const;
  const { data: webhook } = await client.createWebhook({ ...hook, events: [...hook.events] });
  story.receiver.trust(webhook.secret);
});
afterAll(() => story.stop());

const TODAY = [
  { id: "yes", text: "Yes, please" },
  { id: "no", text: "No" },
];
const someone = () => `55119${String(10_001_000 + nth++)}`;

interface Asked {
  from: string;
  message_id: string;
  ask_id: string;
  isPoll: boolean;
}

async function ask(more: object = {}, from = someone()): Promise<Asked> {
  const { id, client } = story.sales;
  const question = { question: "Shall we deliver today?", options: TODAY, ...more };
  const { data } = await client.ask({ id, number: from, ...question });
  return {
    from,
    message_id: data.message_id ?? "",
    ask_id: data.ask_id ?? "",
    isPoll: data.poll !== undefined,
  };
}

const answers = ({ ask_id }: Asked) =>
  story.receiver.received.filter(
    ({ body }) => body.event === "answer.received" && body.data.ask_id === ask_id,
  );

async function answerTo({ ask_id }: Asked) {
  const [found] = await story.receiver.waitFor(
    ({ body }) => body.event === "answer.received" && body.data.ask_id === ask_id,
  );
  return found?.body.data;
}

const vote = ({ from, message_id }: Asked, option: string) =>
  story.sales.client.sandboxVote({ id: story.sales.id, from, message_id, options: [option] });

/** Resolves once the message is recorded with all that it answers. */
async function write({ from }: Pick<Asked, "from">, text: string, reply_to?: string): Promise<string> {
  const { data } = await story.sales.client.sandboxReceive({ id: story.sales.id, from, text, reply_to });
  await story.event("message.received", data.message_id);
  return data.message_id;
}

describe("a question", () => {
  test("goes out as a poll, and its vote is one answer with the option's own id", async () => {
    const asked = await ask();
    expect(asked.isPoll).toBe(true);
    await vote(asked, "No");
    expect(await answerTo(asked)).toMatchObject({
      ask_id: asked.ask_id,
      option: { id: "no", text: "No" },
      message_id: asked.message_id,
      contact: { phone: asked.from },
      answer_message_id: null,
      message: { from_me: true },
    });
  });

  test.each([
    ["that is asked so", { style: "text" }],
    ["with two equal texts", { options: [...TODAY, { id: "yes2", text: "Yes, please" }] }],
    ["with a long option", { options: [...TODAY, { id: "long", text: "x".repeat(101) }] }],
    ["that is long", { question: "x".repeat(256) }],
  ])("%s goes out as a text with numbered options", async (_, more) => {
    const asked = await ask(more);
    expect(asked.isPoll).toBe(false);
    const [arrival] = await story.ledger({ action: "send", message_id: asked.message_id });
    expect(arrival?.content).toMatchObject({
      kind: "text",
      text: expect.stringContaining("\n1. Yes, please\n2. No"),
    });
    const answer = await write(asked, "2");
    expect(await answerTo(asked)).toMatchObject({ option: { id: "no" }, answer_message_id: answer });
  });

  test.each([
    ["equal texts", { options: [...TODAY, { id: "nope", text: "No" }] }, "options", "duplicate"],
    ["a long option", { options: [...TODAY, { id: "long", text: "x".repeat(101) }] }, "options", "too_long"],
    ["equal ids", { options: [...TODAY, { id: "no", text: "Never" }] }, "options", "duplicate"],
    [
      "13 options",
      { options: Array.from({ length: 13 }, (_, i) => ({ id: `${i}`, text: `${i}` })) },
      "options",
      "too_many",
    ],
    ["an end in the past", { expires_at: "2020-01-01T00:00:00Z" }, "expires_at", "too_low"],
  ])("as a poll with %s is refused before anything is queued", async (_, more, field, code) => {
    const before = (await story.rows()).messages;
    await expect(ask({ style: "poll", ...more })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { fields: [{ field, code }] },
    });
    expect((await story.rows()).messages).toBe(before);
  });
});

describe("an answer", () => {
  test.each([["2"], ["2."], [" 2) "], ["2️⃣"], ["no"], ["NO"]])(
    "may be the text %j, also to a poll",
    async (text) => {
      const asked = await ask();
      await write(asked, text);
      expect(await answerTo(asked)).toMatchObject({ option: { id: "no" } });
    },
  );

  test("counts once: a later vote or text changes nothing", async () => {
    const asked = await ask();
    await vote(asked, "No");
    await answerTo(asked);
    await write(asked, "1");
    await vote(asked, "Yes, please");
    await story.receiver.waitFor(
      ({ body }) => body.event === "poll.voted" && body.data.message_id === asked.message_id,
      2,
    );
    expect(answers(asked)).toHaveLength(1);
  });

  test("is for the latest question of the chat, or for the one that it quotes", async () => {
    const first = await ask();
    const second = await ask({}, first.from);
    await write(first, "1");
    expect(await answerTo(second)).toMatchObject({ option: { id: "yes" } });
    const third = await ask({}, first.from);
    await write(first, "2", first.message_id);
    expect(await answerTo(first)).toMatchObject({ option: { id: "no" } });
    expect([answers(second).length, answers(third).length]).toEqual([1, 0]);
  });

  test("is no other text, and none that comes too late", async () => {
    const asked = await ask({ expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    for (const text of ["3", "0", "Maybe", "No, thanks"]) await write(asked, text);
    const { db } = story.gateway.database;
    await db
      .updateTable("message")
      .set(({ eb }) => ({
        content: eb.fn("jsonb_set", [
          "content",
          eb.val("{ask,expires_at}"),
          eb.val('"2020-01-01T00:00:00Z"'),
        ]),
      }))
      .where("message_id", "=", asked.message_id)
      .execute();
    await write(asked, "No");
    expect(answers(asked)).toEqual([]);
  });
});
