import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import type { Received } from "../servers/receiver.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";

beforeAll(buildDist);

/** Makes SIGUSR2 throw an unexpected error. */
const BUGS = {
  "an exception that nobody catches": "throw new Error('surprise')",
  "a rejection that nobody handles": "Promise.reject(new Error('surprise'))",
};

describe("a gateway that is being stopped", () => {
  let story: E2eStory;
  let instance: PairedInstance;

  beforeAll(async () => {
    story = await createE2eStory({ WAYGATE_LOG_LEVEL: "info" });
    await story.start();
    instance = await story.pair();
    await story.gateway.kill();
  });
  afterEach(() => story.gateway.kill());
  afterAll(() => story.end());

  test("finishes the delivery in progress, and responds to the waiting sync send", async () => {
    const { output } = await story.start();
    const client = story.clientOf(instance);
    const isIt = (received: Received) => received.body.data.message?.text === "while stopping";
    story.receiver.respond(async (received, response) => {
      if (isIt(received)) await waitUntil(() => output().includes('"stopping"'));
      response.writeHead(200).end();
    });
    const slow = client.sendText({ id: instance.id, number: "5521977770005", text: "slow sync" });
    await client.sandboxReceive({ id: instance.id, from: "5521955554444", text: "while stopping" });
    await story.receiver.waitFor(isIt);
    expect(await story.gateway.kill("SIGINT")).toEqual({ code: 0, signal: null });
    expect((await slow).data?.status).toMatch(/^(sent|delivered|read)$/);
    story.receiver.respond(200);
    await story.start();
    await story.drained();
    expect(story.receiver.received.filter(isIt)).toHaveLength(1);
  });

  test("exits at once on a second signal", async () => {
    const { kill, output } = await story.start();
    const ending = kill("SIGTERM");
    await waitUntil(() => output().includes('"stopping"'));
    // Immediate repeats count as one signal, because a terminal signals a process and its parent.
    const again = setInterval(() => void kill("SIGTERM"), 50);
    void ending.finally(() => clearInterval(again));
    // A graceful shutdown exits with 0, and a slow one logs a line.
    expect(await ending).toEqual({ code: 1, signal: null });
    expect(output()).not.toContain("stopping took too long");
  });

  test.each(Object.entries(BUGS))("exits with code 1 on %s and reports why", async (_, bug) => {
    const preload = `data:text/javascript,process.on("SIGUSR2",()=>{${bug}})`;
    const { kill, output } = await story.start({ NODE_OPTIONS: `--import=${encodeURI(preload)}` });
    expect(await kill("SIGUSR2")).toEqual({ code: 1, signal: null });
    const last = output().trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({
      level: "fatal",
      msg: "a bug ends this process",
      err: { message: "surprise", stack: expect.stringContaining("surprise") },
    });
  });
});
