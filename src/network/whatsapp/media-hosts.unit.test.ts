import { describe, expect, it } from "vitest";
import { MediaHosts } from "./media-hosts.ts";

const TEST_SERVER = "ws://127.0.0.1:4000/ws/chat";
const allows = (hosts: MediaHosts, url: string) => hosts.allows(new URL(url));

describe("a media host", () => {
  it.each([
    ["https://mmg.whatsapp.net/v/x", true],
    ["https://media-gru1-1.cdn.whatsapp.net/v/x", true],
    ["https://MMG.WhatsApp.net/v/x", true],
    ["https://mmg.whatsapp.net:443/v/x", true],
    ["http://mmg.whatsapp.net/v/x", false],
    ["https://mmg.whatsapp.net:8443/v/x", false],
    ["https://mmg.whatsapp.net.attacker.example/v/x", false],
    ["https://mmg.whatsapp.net@attacker.example/v/x", false],
    ["https://notwhatsapp.net/v/x", false],
    ["https://whatsapp.net.attacker.example/v/x", false],
    ["https://mmg.whatsapp.net./v/x", false],
    ["https://127.0.0.1/v/x", false],
    ["https://localhost/v/x", false],
    ["https://169.254.169.254/v/x", false],
  ])("%s is WhatsApp's own: %s", (url, isOwn) => {
    expect(allows(new MediaHosts(), url)).toBe(isOwn);
  });

  it.each([
    ["a test server on this machine names it", TEST_SERVER, "127.0.0.1:4001", true],
    ["that server has named another one", TEST_SERVER, "127.0.0.1:4002", false],
    ["that server has named none yet", TEST_SERVER, undefined, false],
    ["WhatsApp itself names it", undefined, "127.0.0.1:4001", false],
    ["a server elsewhere names it", "wss://chat.example/ws", "127.0.0.1:4001", false],
  ])("on this machine is accepted when %s", (_, networkUrl, named, isAllowed) => {
    const hosts = new MediaHosts({ ...(networkUrl && { networkUrl }), named: () => named });
    expect(allows(hosts, "https://127.0.0.1:4001/v/x")).toBe(isAllowed);
  });

  it("on another machine is not accepted from a test server", () => {
    const hosts = new MediaHosts({ networkUrl: TEST_SERVER, named: () => "attacker.example" });
    expect(allows(hosts, "https://attacker.example/v/x")).toBe(false);
    expect(hosts.urlOf("/v/x")?.href).toBe("https://mmg.whatsapp.net/v/x");
  });
});

describe("the address of a file", () => {
  it.each([
    ["/v/t62/x?ccb=11&oh=1", "https://mmg.whatsapp.net/v/t62/x?ccb=11&oh=1"],
    ["/v/a/../b", "https://mmg.whatsapp.net/v/b"],
    ["", undefined],
    ["v/x", undefined],
    ["//attacker.example/x", undefined],
    ["/\\attacker.example/x", undefined],
    [".attacker.example/x", undefined],
    ["@attacker.example/x", undefined],
    [":8443/x", undefined],
    ["https://attacker.example/x", undefined],
    ["\t//attacker.example/x", undefined],
    [`/${"x".repeat(2_048)}`, undefined],
  ])("with the path %j is %s", (path, url) => {
    expect(new MediaHosts({ named: () => "mmg.whatsapp.net" }).urlOf(path)?.href).toBe(url);
  });

  it("is on the host that the network names", () => {
    const hosts = new MediaHosts({ named: () => "media-gru1-1.cdn.whatsapp.net" });
    expect(hosts.urlOf("/v/x")?.href).toBe("https://media-gru1-1.cdn.whatsapp.net/v/x");
  });
});
