import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addNodeRpcRoute, NOT_OWNED_HERE, type NodeRpcRouteOptions } from "./add-node-rpc-route.ts";
import { createNodeRpcClient, NODE_RPC_HEADERS, NODE_RPC_PATH } from "./node-rpc-client.ts";
import {
  decodeMessage,
  encodeMessage,
  isSignatureValid,
  newNonce,
  senderProofText,
  signedContentText,
  signMessage,
} from "./node-rpc-message.ts";

const SECRET = "a cluster secret that is long enough for this";

describe("an RPC of another node", () => {
  let app: FastifyInstance;
  let url: string;
  const calls = createNodeRpcClient({ secret: SECRET });
  /** How often the count operation has run. */
  let counted = 0;
  const ask = (name: string, input: unknown = {}, timeoutMs = 5000) =>
    calls.request({ url, name, input, timeoutMs });

  /** A file whose content the test pushes. */
  let long: Readable;
  const askLong = async (timeoutMs?: number) => {
    long = new Readable({ read() {} });
    long.push("one ");
    const result = await ask("long", {}, timeoutMs);
    if (result.outcome !== "stream") throw new Error(result.outcome);
    return result.body;
  };

  beforeAll(async () => {
    app = Fastify();
    const options: NodeRpcRouteOptions = {
      secret: SECRET,
      url: "",
      bodyLimitBytes: 100_000,
      handlers: {
        silent: async () => new Promise<never>(() => {}),
        echo: async (input) => input,
        count: async () => ++counted,
        elsewhere: async () => NOT_OWNED_HERE,
        file: async () => Readable.from([Buffer.from("one "), Buffer.from("two")]),
        torn: async () =>
          Readable.from(
            (async function* () {
              yield Buffer.alloc(70_000);
              throw new Error("the disk is gone");
            })(),
          ),
        long: async () => long,
        broken: async () => Promise.reject(new Error("a bug")),
      },
    };
    await addNodeRpcRoute(app, options);
    url = await app.listen({ host: "127.0.0.1", port: 0 });
    options.url = url;
  });
  afterAll(async () => {
    await calls.close();
    await app.close();
  });

  test("preserves bytes, dates and text", async () => {
    const input = {
      at: new Date(0),
      bytes: new Uint8Array([0, 255]),
      text: "olá\u2028",
      list: [null, 1, false],
    };
    expect(await ask("echo", input)).toEqual({ outcome: "value", value: input });
  });

  test("streams a file, and an incomplete file does not look complete", async () => {
    const whole = await ask("file");
    if (whole.outcome !== "stream") throw new Error(whole.outcome);
    expect(Buffer.concat(await whole.body.toArray()).toString()).toBe("one two");
    const torn = await ask("torn");
    if (torn.outcome === "stream") await expect(torn.body.toArray()).rejects.toThrow();
    else expect(torn.outcome).toBe("unreachable");
  });

  test("has a timeout for the response head only, so a slow reader can finish a file", async () => {
    const body = await askLong(1_500);
    // Its timer started later with the same length.
    expect(await ask("silent", {}, 1_500)).toMatchObject({ outcome: "unreachable", executed: true });
    long.push("two");
    long.push(null);
    expect(Buffer.concat(await body.toArray()).toString()).toBe("one two");
  });

  test("ends a file at its source when its reader disconnects", async () => {
    const body = await askLong();
    body.destroy();
    await expect.poll(() => long.destroyed).toBe(true);
  });

  test("reports a missing row, and an operation that this version does not know", async () => {
    expect(await ask("elsewhere")).toEqual({ outcome: "not_here" });
    expect(await ask("of a newer version")).toEqual({ outcome: "not_here" });
    expect(await ask("constructor")).toEqual({ outcome: "not_here" });
  });

  test("reports whether the operation may have run when there is no response", async () => {
    expect(await ask("broken")).toMatchObject({ outcome: "unreachable", executed: true });
    const nobody = { url: "http://127.0.0.1:1", name: "echo", input: {}, timeoutMs: 20_000 };
    expect(await calls.request(nobody)).toMatchObject({ outcome: "unreachable", executed: false });
  });

  test("is refused without the cluster's secret, and nothing runs", async () => {
    const stranger = createNodeRpcClient({ secret: `${SECRET}!` });
    const refused = await stranger.request({ url, name: "echo", input: {}, timeoutMs: 20_000 });
    expect(refused).toMatchObject({ outcome: "unreachable", executed: false });
    await stranger.close();
  });

  const body = encodeMessage({ name: "echo", input: {} });
  const post = async (headers: Record<string, string>) => {
    const type = { "content-type": "text/plain" };
    const call = {
      method: "POST",
      url: NODE_RPC_PATH,
      payload: body,
      headers: { ...type, ...headers },
    } as const;
    return (await app.inject(call)).statusCode;
  };

  /** Headers of a valid request; `parts` changes them. */
  const headersOf = (text: string, { target = url, proofAt = Date.now(), signedAt = Date.now() } = {}) => {
    const identity = { target, nonce: newNonce() };
    return {
      [NODE_RPC_HEADERS.nonce]: identity.nonce,
      [NODE_RPC_HEADERS.proof]: signMessage(SECRET, senderProofText(identity), proofAt),
      [NODE_RPC_HEADERS.signature]: signMessage(SECRET, signedContentText(identity, text), signedAt),
    };
  };

  test("requires a fresh nonce and a signature over its content", async () => {
    const longAgo = Date.now() - 120_000;
    expect(await post(headersOf(body))).toBe(200);
    expect(await post({})).toBe(401);
    for (const name of ["nonce", "proof", "signature"] as const) {
      const { [NODE_RPC_HEADERS[name]]: _, ...others } = headersOf(body);
      expect(await post(others), name).toBe(401);
    }
    expect(await post(headersOf(body, { proofAt: longAgo }))).toBe(401);
    expect(await post(headersOf(body, { signedAt: longAgo }))).toBe(401);
    expect(await post(headersOf(`${body} `))).toBe(401);
  });

  test("is accepted once: a copy is refused, also with another nonce or a foreign signature", async () => {
    const { nonce, proof, signature } = NODE_RPC_HEADERS;
    const sent = headersOf(body);
    expect(await post(sent)).toBe(200);
    expect(await post(sent)).toBe(401);
    expect(await post({ ...sent, [nonce]: newNonce() })).toBe(401);
    const fresh = headersOf(`${body} `);
    expect(await post({ ...fresh, [signature]: sent[signature] ?? "" })).toBe(401);
    expect(await post({ ...headersOf(body), [proof]: sent[proof] ?? "" })).toBe(401);
  });

  test("is refused by every node except its target", async () => {
    expect(await post(headersOf(body, { target: "http://node-2:3000" }))).toBe(401);
    // The path of a URL does not identify the node.
    expect(await post(headersOf(body, { target: `${url}/` }))).toBe(200);
  });

  const count = encodeMessage({ name: "count", input: {} });
  const headersOfCount = (timeLeftMs: number) => ({
    "content-type": "text/plain",
    ...headersOf(count),
    [NODE_RPC_HEADERS.timeLeft]: String(timeLeftMs),
  });

  test("does not run after its deadline", async () => {
    const before = counted;
    const headers = headersOfCount(0.000_001);
    const late = await app.inject({ method: "POST", url: NODE_RPC_PATH, payload: count, headers });
    expect([late.statusCode, counted]).toEqual([421, before]);
    expect(await ask("count")).toEqual({ outcome: "value", value: before + 1 });
  });

  test("does not run when its caller has disconnected while this process was paused", async () => {
    const before = counted;
    const { hostname, port } = new URL(url);
    const all = { ...headersOfCount(5000), host: "node", "content-length": count.length };
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    const text = `POST ${NODE_RPC_PATH} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${count}`;
    // Blocks this process until the other one has ended.
    execFileSync(process.execPath, ["-e", ASK_AND_LEAVE, hostname, port, text]);
    await once(app.server, "connection");
    // That request was read before this one.
    expect(await ask("count")).toEqual({ outcome: "value", value: before + 1 });
  });

  test("is refused before its body has arrived when the proof is missing", async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const headers = ["host: node", "content-type: text/plain", "content-length: 90000"];
    // The body never follows.
    socket.write(`POST ${NODE_RPC_PATH} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    const [answer] = await once(socket, "data");
    socket.destroy();
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401 /);
  });
});

const ASK_AND_LEAVE = `
  const [hostname, port, text] = process.argv.slice(1);
  const socket = require("node:net").connect(Number(port), hostname);
  socket.write(text, () => socket.destroy());`;

test("a signature is valid for one text only", () => {
  const signature = signMessage(SECRET, "text");
  expect(isSignatureValid(SECRET, "text", signature)).toBe(true);
  expect(isSignatureValid(SECRET, "Text", signature)).toBe(false);
  expect(isSignatureValid(SECRET, "text", "")).toBe(false);
  expect(decodeMessage(encodeMessage({ a: undefined, b: [new Date(5)] }))).toEqual({ b: [new Date(5)] });
});
