import { once } from "node:events";
import { createServer } from "node:http";
import net, { type AddressInfo } from "node:net";
import { buildConnector, Client } from "undici";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { createAddressPolicy } from "./address-policy.ts";
import { BlockedTargetError, createOutgoingConnector } from "./outgoing-connector.ts";
import { readInPieces } from "./read-in-pieces.ts";

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) {
    close();
  }
});

/** Dials as undici would, and returns the result and the number of connections at the listener. */
async function dial(hostname: string, answers: string[], allowedHosts: string[]) {
  let hits = 0;
  const server = net.createServer(() => {
    hits += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const lookup = async () => answers.map((address) => ({ address, family: net.isIP(address) }));
  const policy = createAddressPolicy({ allowedHosts });
  const connect = createOutgoingConnector(policy, { host: hostname, port }, lookup, 5_000);
  const error = await new Promise<Error | null>((resolve) => {
    connect({ hostname, protocol: "http:", port: String(port) }, (fault, socket) => {
      socket?.destroy();
      resolve(fault);
    });
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { error, hits };
}

it.each(["127.0.0.1", "::1", "::ffff:7f00:1"])(
  "the connector refuses the literal %s, whatever the caller checked",
  async (host) => {
    const { error, hits } = await dial(host, ["8.8.8.8"], ["external"]);
    expect(error).toBeInstanceOf(BlockedTargetError);
    expect(hits).toBe(0);
  },
);

it.each([[["127.0.0.1"]], [["8.8.8.8", "127.0.0.1"]], [["127.0.0.1", "8.8.8.8"]], [[]]])(
  "the connector refuses a name that resolves to %j",
  async (answers) => {
    const { error, hits } = await dial("name.test", answers, ["external"]);
    expect(error).toBeInstanceOf(BlockedTargetError);
    expect(hits).toBe(0);
  },
);

it("the connector dials addresses that the policy allows", async () => {
  expect((await dial("name.test", ["127.0.0.1"], ["loopback"])).error).toBeNull();
  expect((await dial("127.0.0.1", [], ["loopback"])).error).toBeNull();
});

it("the connector tries the next address when the first does not respond", async () => {
  expect((await dial("name.test", ["127.0.0.99", "127.0.0.1"], ["loopback"])).error).toBeNull();
});

/** Requests from this server, and counts the bytes that the parser has taken. */
async function requestFrom(server: net.Server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  let taken = 0;
  const dial = readInPieces(buildConnector({}));
  const connect: buildConnector.connector = (options, callback) =>
    dial(options, (...result) => {
      const [, socket] = result;
      const read = socket?.read.bind(socket);
      if (socket && read) {
        socket.read = (size) => {
          const piece: Buffer | null = read(size);
          taken += piece?.length ?? 0;
          return piece;
        };
      }
      callback(...result);
    });
  const { port } = server.address() as AddressInfo;
  const client = new Client(`http://127.0.0.1:${port}`, { connect, maxHeaderSize: 16_384 });
  onTestFinished(async () => {
    await client.destroy();
    server.close();
  });
  const response = client
    .request({ method: "GET", path: "/" })
    .then(async ({ body }) => (await body.arrayBuffer()).byteLength);
  return { response, countTaken: () => taken };
}

it("the parser is given nothing after the headers have exceeded its limit", async () => {
  const headers = `HTTP/1.1 200 OK\r\n${"x-many: yes\r\n".repeat(10_000)}content-length: 0\r\n\r\n`;
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => void socket.write(headers));
  });
  const { response, countTaken } = await requestFrom(server);
  await expect(response).rejects.toMatchObject({ code: "UND_ERR_HEADERS_OVERFLOW" });
  // Names and values count for the limit; of 13 bytes, 9.
  expect(countTaken()).toBeLessThan((16_384 * 13) / 9 + 1_100);
});

it("a body of many pieces arrives whole", async () => {
  const server = createServer((_, res) => void res.end(Buffer.alloc(3_000_001, "x")));
  const { response, countTaken } = await requestFrom(server);
  expect(await response).toBe(3_000_001);
  expect(countTaken()).toBeGreaterThan(3_000_001);
});
