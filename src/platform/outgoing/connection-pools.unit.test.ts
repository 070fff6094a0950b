import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createAddressPolicy } from "./address-policy.ts";
import { ClosedError } from "./classify-fetch-failure.ts";
import { type ConnectionPools, createConnectionPools, type LeasedSocket } from "./connection-pools.ts";
import { createDnsResolver } from "./dns-resolver.ts";

let pools: ConnectionPools;
const policy = createAddressPolicy({ allowedHosts: ["loopback"] });

afterEach(() => pools.close());

function start(): ConnectionPools {
  pools = createConnectionPools({ lookup: createDnsResolver(), egressProxy: undefined });
  return pools;
}

function borrow(port = 1, policyKey = "tenant", isPaced = false): Promise<LeasedSocket> {
  const host = "127.0.0.1";
  return pools.lease({
    origin: `http://${host}:${port}`,
    target: { host, port },
    policyKey,
    policy,
    isPaced,
  });
}

/** Whether a socket is leased by now. */
async function isLent(line: Promise<LeasedSocket>): Promise<boolean> {
  const later = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([line.then(() => true), later]);
}

describe("the pool of an origin", () => {
  it("leases four sockets, and the fifth caller waits for one", async () => {
    start();
    const lines = await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const fifth = borrow();
    expect(await isLent(fifth)).toBe(false);
    lines[0]?.release();
    expect((await fifth).dispatcher).toBe(lines[0]?.dispatcher);
  });

  it("leases more sockets to a caller with its own limit, and idle ones to every caller", async () => {
    start();
    const lines = await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const paced = await borrow(1, "tenant", true);
    expect(lines.map(({ dispatcher }) => dispatcher)).not.toContain(paced.dispatcher);
    paced.release();
    expect((await borrow()).dispatcher).toBe(paced.dispatcher);
  });

  it("replaces sockets that end with an error, in order", async () => {
    start();
    const lines = await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const [fifth, sixth] = [borrow(), borrow()];
    lines[0]?.release(new Error("broken"));
    lines[0]?.release();
    expect((await fifth).dispatcher).not.toBe(lines[0]?.dispatcher);
    expect(await isLent(sixth)).toBe(false);
  });

  it("leases its sockets again", async () => {
    start();
    const first = await borrow();
    first.release();
    expect((await borrow()).dispatcher).toBe(first.dispatcher);
  });

  it("shares no socket with other origins or other policies", async () => {
    start();
    await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    expect(await isLent(borrow())).toBe(false);
    expect(await isLent(borrow(2))).toBe(true);
    expect(await isLent(borrow(1, "operator"))).toBe(true);
  });
});

describe("the number of origins", () => {
  it("is limited: the least recently used one loses its idle socket", async () => {
    start();
    const server = http.createServer((_request, response) => response.end("ok")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const line = await borrow(port);
    const { body } = await line.dispatcher.request({ path: "/", method: "GET" });
    await body.text();
    line.release();
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    expect(await connections()).toBe(1);
    for (let other = 1; other <= 600; other++) {
      (await borrow(other)).release();
    }
    expect(pools.size).toBe(500);
    await expect.poll(connections).toBe(0);
    server.close();
  });
});

describe("closing the pools", () => {
  it("rejects the callers that wait", async () => {
    start();
    await Promise.all([borrow(), borrow(), borrow(), borrow()]);
    const waiting = expect(borrow()).rejects.toBeInstanceOf(ClosedError);
    await pools.close();
    await waiting;
  });
});
