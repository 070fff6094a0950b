import { describe, expect, test } from "vitest";
import { adviseOnBlocked, adviseOnUnreachable, isLoopback } from "./listener-webhook.ts";

describe("the advice about an address that the gateway may not call", () => {
  test("names the setting that opens this machine", () => {
    const advice = adviseOnBlocked("http://127.0.0.1:8080/");
    expect(advice).toContain("WAYGATE_LOCAL_TARGETS=on");
    expect(advice).toContain("WAYGATE_ALLOWED_HOSTS=external,127.0.0.1:8080 ");
  });

  test("names the host with the port that its scheme means", () => {
    expect(adviseOnBlocked("https://laptop.lan/")).toContain(
      "WAYGATE_ALLOWED_HOSTS=external,laptop.lan:443 ",
    );
    expect(adviseOnBlocked("http://[fd12::1]/")).toContain("WAYGATE_ALLOWED_HOSTS=external,[fd12::1]:80 ");
    expect(adviseOnBlocked("http://10.0.0.5:81/")).not.toContain("WAYGATE_LOCAL_TARGETS");
  });
});

describe("the advice about a listener that the gateway cannot reach", () => {
  test("thinks of a container if both are on this machine", () => {
    const advice = adviseOnUnreachable("http://localhost:3000", "http://127.0.0.1:8080/");
    expect(advice).toContain("--host 0.0.0.0 --port 8080 --public-url http://host.docker.internal:8080/");
  });

  test("asks for an address of this machine if the gateway is on another one", () => {
    const advice = adviseOnUnreachable("https://gateway.example", "http://127.0.0.1:8080/");
    expect(advice).toContain("the gateway's own machine");
    expect(advice).toContain("--public-url");
  });

  test("asks to check an address that was given", () => {
    expect(adviseOnUnreachable("https://gateway.example", "https://tunnel.example/")).toContain(
      "Check that https://tunnel.example/ leads to this machine",
    );
  });
});

test.each([
  ["localhost", true],
  ["127.0.0.2", true],
  ["[::1]", true],
  ["a.localhost", true],
  ["127.0.0.1.example.com", false],
  ["10.0.0.1", false],
])("the host %s is this machine: %s", (name, expected) => {
  expect(isLoopback(name)).toBe(expected);
});
