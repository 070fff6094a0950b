import { lookup } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, createServer, type LookupFunction } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHttpProxy, startSocksProxy } from "../../../test/servers/proxy-server.ts";
import { type GatewayOnWhatsApp, startGatewayOnWhatsApp } from "../../../test/whatsapp-gateway.ts";
import type { Client } from "../../client/client.ts";
import { reachNetwork } from "../../network/whatsapp/session-transport.ts";
import { type ProxyDeps, proxyHandlers } from "./proxy-handlers.ts";

let on: GatewayOnWhatsApp;
let owner: Client;
let id: number;

beforeAll(async () => {
  on = await startGatewayOnWhatsApp();
  ({ owner } = on.gateway);
  id = (await owner.createInstance({ name: "Sales", network: "whatsapp" })).data.id;
});
afterAll(() => on.stop());

const tryProxy = (url?: string) => owner.testProxy({ id, ...(url && { url }) }).then(({ data }) => data);

describe("the test of a proxy", () => {
  test.each([
    ["http", startHttpProxy],
    ["socks5", startSocksProxy],
  ])("reaches WhatsApp through a proxy of the kind %s, before it is stored", async (kind, start) => {
    const proxy = await start();
    const result = await tryProxy(`${kind}://shop:secret@127.0.0.1:${proxy.port}`);
    expect(result).toEqual({ reached: true, duration_ms: expect.any(Number), error: null });
    expect(proxy.targets).toEqual([new URL(on.network.url).host]);
    expect((await owner.getProxy({ id })).data).toEqual({ id, url: null });
    await proxy.close();
  });

  test("uses the stored proxy, whose password no response shows, and explains what is wrong", async () => {
    await expect(tryProxy()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    const proxy = await startHttpProxy();
    const url = `http://shop:secret@127.0.0.1:${proxy.port}`;
    await owner.updateInstance({ id, proxy: { url } });
    expect((await owner.getProxy({ id })).data.url).toBe(`http://***@127.0.0.1:${proxy.port}/`);
    expect(await tryProxy()).toMatchObject({ reached: true });
    await proxy.close();
    expect(await tryProxy()).toMatchObject({ reached: false, error: expect.stringContaining("refused") });
  });

  test("ends with a reason when the proxy accepts the connection and never responds", async () => {
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const deps = {
      db: on.gateway.database.db,
      outgoing: { findBlockReason: async () => undefined, lookup: () => lookup },
      reachNetwork: (proxy: string, lookup: LookupFunction, signal: AbortSignal) =>
        reachNetwork({ proxy, lookup }, { url: on.network.url, signal }),
    } as unknown as ProxyDeps;
    const { testProxy } = proxyHandlers(deps, 200);
    const request = { input: { id, url: `http://127.0.0.1:${port}` }, signal: new AbortController().signal };
    expect(await testProxy(request as never)).toMatchObject({
      reached: false,
      error: expect.stringContaining("in time"),
    });
    silent.close();
  });

  test("of an address that the gateway's rules forbid is rejected at its field", async () => {
    await expect(tryProxy("http://169.254.169.254:80")).rejects.toMatchObject({
      details: { fields: [{ field: "url" }] },
    });
  });
});
