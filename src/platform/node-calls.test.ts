import { Readable } from "node:stream";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createNodeCalls, NODE_CALL_PATH, NODE_HEADERS } from "./node-calls.ts";
import { addNodeCallsRoute, NOT_HERE } from "./node-calls-route.ts";
import { decodeMessage, encodeMessage, isSigned, signMessage } from "./node-message.ts";

const SECRET = "a cluster secret that is long enough for this";

describe("a call of another node", () => {
  let app: FastifyInstance;
  let url: string;
  const calls = createNodeCalls({ secret: SECRET });
  const ask = (name: string, input: unknown = {}) => calls.call({ url, name, input, timeoutMs: 5000 });

  beforeAll(async () => {
    app = Fastify();
    await addNodeCallsRoute(app, {
      secret: SECRET,
      bodyLimitBytes: 100_000,
      handlers: {
        echo: async (input) => input,
        timeLeft: async (_input, { timeLeftMs }) => timeLeftMs,
        elsewhere: async () => NOT_HERE,
        file: async () => Readable.from([Buffer.from("one "), Buffer.from("two")]),
        torn: async () =>
          Readable.from(
            (async function* () {
              yield Buffer.alloc(70_000);
              throw new Error("the disk is gone");
            })(),
          ),
        broken: async () => Promise.reject(new Error("a bug")),
      },
    });
    url = await app.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await calls.close();
    await app.close();
  });

  test("keeps bytes, dates and text", async () => {
    const input = {
      at: new Date(0),
      bytes: new Uint8Array([0, 255]),
      text: "olá\u2028",
      list: [null, 1, false],
    };
    expect(await ask("echo", input)).toEqual({ outcome: "value", value: input });
  });

  test("tells how long the caller still waits", async () => {
    expect(await ask("timeLeft")).toEqual({ outcome: "value", value: 5000 });
  });

  test("streams a file, and a torn one does not look whole", async () => {
    const whole = await ask("file");
    if (whole.outcome !== "stream") throw new Error(whole.outcome);
    expect(Buffer.concat(await whole.body.toArray()).toString()).toBe("one two");
    const torn = await ask("torn");
    if (torn.outcome === "stream") await expect(torn.body.toArray()).rejects.toThrow();
    else expect(torn.outcome).toBe("unreachable");
  });

  test("knows what is not there, also what this version does not know", async () => {
    expect(await ask("elsewhere")).toEqual({ outcome: "not_here" });
    expect(await ask("of a newer version")).toEqual({ outcome: "not_here" });
    expect(await ask("constructor")).toEqual({ outcome: "not_here" });
  });

  test("says whether something may have been done when there is no answer", async () => {
    expect(await ask("broken")).toMatchObject({ outcome: "unreachable", executed: true });
    const nobody = { url: "http://127.0.0.1:1", name: "echo", input: {}, timeoutMs: 20_000 };
    expect(await calls.call(nobody)).toMatchObject({ outcome: "unreachable", executed: false });
  });

  test("is refused without the cluster's secret, and nothing is done", async () => {
    const stranger = createNodeCalls({ secret: `${SECRET}!` });
    const refused = await stranger.call({ url, name: "echo", input: {}, timeoutMs: 20_000 });
    expect(refused).toMatchObject({ outcome: "unreachable", executed: false });
    await stranger.close();
    const bare = await app.inject({ method: "POST", url: NODE_CALL_PATH, payload: "{}", headers: TEXT });
    expect(bare.statusCode).toBe(401);
    const body = encodeMessage({ name: "echo", input: {} });
    const old = { ...TEXT, [NODE_HEADERS.signature]: signMessage(SECRET, body, Date.now() - 120_000) };
    expect(
      (await app.inject({ method: "POST", url: NODE_CALL_PATH, payload: body, headers: old })).statusCode,
    ).toBe(401);
  });
});

const TEXT = { "content-type": "text/plain" };

test("a signature fits one text only", () => {
  const signature = signMessage(SECRET, "text");
  expect(isSigned(SECRET, "text", signature)).toBe(true);
  expect(isSigned(SECRET, "Text", signature)).toBe(false);
  expect(isSigned(SECRET, "text", "")).toBe(false);
  expect(decodeMessage(encodeMessage({ a: undefined, b: [new Date(5)] }))).toEqual({ b: [new Date(5)] });
});
