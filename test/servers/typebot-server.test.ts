import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../source-files.ts";
import { bubble, type FlowStep, startTypebot, type TypebotServer } from "./typebot-server.ts";

type Json = Record<string, unknown>;

/** Complete responses of the viewer by action. */
const RECORDED = new Map(
  ["responses.txt", "edges.txt"].flatMap((name) => {
    const text = readFileSync(join(ROOT, "test/golden/typebot", name), "utf8");
    return [...text.matchAll(/^## (.+?) (\d{3}) (?:application\/json )?(\{.*\})$/gm)].map(
      ([, what = "", status, body = ""]) =>
        [what, { status: Number(status), body: JSON.parse(body) as Json }] as const,
    );
  }),
);

function recorded(what: string) {
  const found = RECORDED.get(what);
  if (!found) throw new Error(`there is no complete response to "${what}"`);
  return found;
}

const inputOf = (what: string) => ({ input: recorded(what).body.input }) as FlowStep;
const actionOf = (what: string): FlowStep => {
  const [{ lastBubbleBlockId: _, ...action }] = recorded(what).body.clientSideActions as [Json];
  return { action: action as Json & { type: string } };
};

/** The recorded bot from its first choice on, and two others. */
const BOTS: Record<string, FlowStep[]> = {
  full: [
    inputOf("invalid choice"),
    inputOf("replyId i1"),
    inputOf("rating ok"),
    inputOf("date"),
    inputOf("file loopback"),
    inputOf("multi by index"),
    bubble("b10", "Bye Sales file=http://127.0.0.1:9/x.png"),
    actionOf("email ok"),
  ],
  pause: [bubble("a", "one"), actionOf("pause start"), bubble("b", "two")],
  textonly: [bubble("a", "one")],
  edges: [inputOf("loop"), inputOf("num"), inputOf("url"), inputOf("time"), bubble("z", "end")],
};

/** The parts of a response that determine the client's next step, without ids and variable texts. */
function essence({ messages = [], input, clientSideActions = [] }: Json) {
  const texts = (messages as { id: string; type: string; content: unknown }[]).map(
    ({ id, type, content }) => ({
      id,
      type,
      text: [...JSON.stringify(content).matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text).join(""),
    }),
  );
  const actions = (clientSideActions as Json[]).map(({ lastBubbleBlockId: _, ...action }) => action);
  return { texts, input, actions };
}

describe("the fake of Typebot's viewer", () => {
  let typebot: TypebotServer;

  beforeAll(async () => {
    typebot = await startTypebot();
    for (const [name, flow] of Object.entries(BOTS)) typebot.publish(name, flow);
    typebot.publish("closed", []);
    typebot.close_bot("closed");
  });
  afterAll(() => typebot.shut());

  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${typebot.url}/api/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Json };
  }

  const start = (bot: string, body: Json = {}) => post(`typebots/${bot}/startChat`, body);
  const goOn = (session: unknown, body: Json) => post(`sessions/${session}/continueChat`, body);

  /** Sends messages to a bot and expects the recorded responses. */
  async function expectTalk(bot: string, talk: readonly (readonly [unknown, string])[]) {
    const { sessionId } = (await start(bot)).body;
    for (const [message, what] of talk) {
      const { status, body } = await goOn(sessionId, message === undefined ? {} : { message });
      expect({ status, ...essence(body) }, what).toEqual({
        status: recorded(what).status,
        ...essence(recorded(what).body),
      });
    }
  }

  test("accepts and refuses the same replies as Typebot 3.18.0", async () => {
    const sales = { type: "text", text: "?", metadata: { replyId: "i1" } };
    await expectTalk("full", [
      ["nothing of it", "invalid choice"],
      ["1", "number 1 as choice"],
      ["sales", "lowercase sales"],
      [undefined, "continue null message"],
      [{ type: "audio", url: "https://example.org/x.ogg" }, "audio to choice"],
      [sales, "replyId i1"],
      ["9", "rating bad"],
      ["good", "rating text"],
      ["4", "rating ok"],
      ["tomorrow", "date"],
      ["my file", "file as plain text"],
      ["http://127.0.0.1:9/x.png", "file loopback"],
      ["http://gateway:9/x.png", "file no-tld"],
      ["1 3", "multi by index"],
      ["nobody", "email bad"],
      ["ana@example.org", "email ok"],
      ["more", "after end"],
    ]);
  });

  test("accepts times and pictures, and refuses the number of a picture, like Typebot 3.18.0", async () => {
    await expectTalk("edges", [
      ["many", "num bad"],
      ["1.234", "num"],
    ]);
    typebot.publish("pictures", [inputOf("url"), inputOf("time"), bubble("z", "end")]);
    await expectTalk("pictures", [
      ["3pm", "time"],
      ["1", "pic idx"],
      ["A", "pic title"],
    ]);
  });

  test("waits, ends and expires sessions like Typebot 3.18.0", async () => {
    const begun = (await start("pause")).body;
    expect(essence(begun)).toEqual(essence(recorded("pause start").body));
    expect(begun.resultId).toBeDefined();
    await expectTalk("pause", [
      [undefined, "pause cont no msg"],
      [undefined, "pause again"],
    ]);
    const ended = (await start("textonly")).body;
    expect(Object.keys(ended)).not.toContain("resultId");
    expect(Object.keys(recorded("textonly").body)).not.toContain("resultId");
    await expectTalk("textonly", [["hi", "textonly cont"]]);
    const { sessionId, ...registered } = (await start("textonly", { isOnlyRegistering: true })).body;
    expect(Object.keys(recorded("onlyRegistering").body)).toEqual(["sessionId", ...Object.keys(registered)]);
    expect((await goOn(sessionId, {})).status).toBe(200);
  });

  test("uses the error messages of Typebot 3.18.0", async () => {
    const nonsense = { message: { type: "nonsense" } };
    const results = {
      "unknown bot": await start("nobody"),
      "unknown session": await goOn("nobody", { message: "hi" }),
      "bad json": await post("typebots/full/startChat", "{"),
      "bad message type": await start("full", nonsense),
      command: await start("full", { message: { type: "command", command: "nothing" } }),
      closed: await start("closed"),
      "origin bad": await post("typebots/full/startChat", {}, { origin: "https://elsewhere.example" }),
    };
    for (const [what, { status, body }] of Object.entries(results)) {
      const { data: _, ...said } = recorded(what).body;
      expect({ status, body }, what).toEqual({ status: recorded(what).status, body: said });
    }
  });
});
