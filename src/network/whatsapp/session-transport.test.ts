import type { LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { downloadWhole, type RecordingSession } from "../../../test/conformance/listener.ts";
import { type ProxyServer, startHttpProxy, startSocksProxy } from "../../../test/servers/proxy-server.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../test/whatsapp-stage.ts";
import type { MediaContent } from "../driver.ts";
import { newMessageId } from "../jid.ts";

let stage: WhatsAppStage;
let proxy: ProxyServer | undefined;

beforeEach(async () => {
  stage = await startWhatsAppStage();
});

afterEach(async () => {
  await stage.stop();
  await proxy?.close();
});

const toLoopback: LookupFunction = (_, options, callback) =>
  options.all ? callback(null, [{ address: "127.0.0.1", family: 4 }]) : callback(null, "127.0.0.1", 4);

const FILE: MediaContent = {
  kind: "media",
  media_type: "document",
  mime_type: "text/plain",
  file_name: "a.txt",
  size: 3,
  bytes: new Uint8Array([1, 2, 3]),
};

function open(url: string, lookup = toLoopback): RecordingSession {
  return stage.open({}, { proxy: url, lookup });
}

describe("a session without a proxy of its own on a gateway with a proxy", () => {
  const openBehind = ({ port }: ProxyServer, session: object = {}): RecordingSession =>
    stage.open({ egress: { proxy: `http://gateway:p%40ss@127.0.0.1:${port}` } }, session);

  it("sends everything through the gateway's proxy, from the pairing on", async () => {
    proxy = await startHttpProxy();
    const one = openBehind(proxy);
    await one.pair(stage.phone);
    const chat = new URL(stage.server.url).host;
    const { sockets } = await stage.control.ledger();
    expect(sockets.length).toBeGreaterThan(1);
    expect(proxy.targets).toEqual(sockets.map(() => chat));
    expect(await one.session.send(stage.contact.jid, FILE, { id: newMessageId() })).toMatchObject({
      outcome: "accepted",
    });
    expect(proxy.targets).toHaveLength(sockets.length + 1);
    expect([...new Set(proxy.users)]).toEqual(["gateway:p@ss"]);
  });

  it("never connects directly when the gateway's proxy is unavailable", async () => {
    const gone = await startHttpProxy();
    await gone.close();
    const one = openBehind(gone);
    one.session.connect();
    expect(await one.waitForEvent("disconnected")).toMatchObject({
      reason: "connection_lost",
      will_retry: false,
    });
    expect((await stage.control.ledger()).sockets).toEqual([]);
  });

  it("no longer uses the gateway's proxy once it has its own", async () => {
    proxy = await startHttpProxy();
    const gateways = await startHttpProxy();
    const one = openBehind(gateways, { proxy: `http://127.0.0.1:${proxy.port}`, lookup: toLoopback });
    one.session.connect();
    await one.waitForEvent("qr");
    expect(proxy.targets).toHaveLength(1);
    expect(gateways.targets).toEqual([]);
    await gateways.close();
  });
});

describe("a session with a proxy", () => {
  it.each([
    ["http://127.0.0.1", startHttpProxy, [""]],
    ["http://me:p%40ss@127.0.0.1", startHttpProxy, ["me:p@ss"]],
    ["socks5://127.0.0.1", startSocksProxy, []],
    ["socks5://me:p%40ss@127.0.0.1", startSocksProxy, ["me:p@ss"]],
    ["socks4://me@127.0.0.1", startSocksProxy, ["me"]],
  ])("such as %s sends everything through it", async (url, start, reported) => {
    proxy = await start();
    const { targets, users, port } = proxy;
    const one = open(`${url}:${port}`);
    await one.pair(stage.phone);
    const chat = new URL(stage.server.url).host;
    const { sockets } = await stage.control.ledger();
    expect(targets).toEqual(sockets.map(() => chat));
    const sent = await one.session.send(stage.contact.jid, FILE, { id: newMessageId() });
    expect(sent).toMatchObject({ outcome: "accepted" });
    const [files] = targets.slice(sockets.length);
    expect([files, targets.length]).toEqual([expect.stringMatching(/^127\.0\.0\.1:/), sockets.length + 1]);
    const { content } = await one.message(await stage.contact.sendMessage(FILE));
    expect(await downloadWhole(one.session, (content as MediaContent).ref)).toEqual(Buffer.from([1, 2, 3]));
    expect(targets.slice(sockets.length)).toEqual([files, files]);
    expect([...new Set(users)]).toEqual(reported);
  });

  it.each([
    ["http", startHttpProxy],
    ["socks5", startSocksProxy],
  ])("resolves the address of its %s proxy as configured", async (scheme, start) => {
    proxy = await start();
    const one = open(`${scheme}://proxy.example:${proxy.port}`);
    one.session.connect();
    await one.waitForEvent("qr");
    expect(proxy.targets).toEqual([new URL(stage.server.url).host]);
  });

  it.each(["http", "socks5"])("never connects directly when its %s proxy is unavailable", async (scheme) => {
    const gone = await startHttpProxy();
    await gone.close();
    const one = open(`${scheme}://127.0.0.1:${gone.port}`);
    one.session.connect();
    expect(await one.waitForEvent("disconnected")).toMatchObject({
      reason: "connection_lost",
      will_retry: false,
    });
    expect((await stage.control.ledger()).sockets).toEqual([]);
  });

  it.each(["http", "socks5"])("does not dial a %s proxy whose address is refused", async (scheme) => {
    proxy = scheme === "http" ? await startHttpProxy() : await startSocksProxy();
    const refuse: LookupFunction = (_, __, callback) => callback(new Error("not allowed"), []);
    const one = open(`${scheme}://proxy.example:${proxy.port}`, refuse);
    one.session.connect();
    await one.waitForEvent("disconnected");
    expect(proxy.targets).toEqual([]);
  });
});
