import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createAddressPolicy } from "./address-policy.ts";
import { BlockedTargetError, createOutgoingConnector } from "./outgoing-connector.ts";

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
