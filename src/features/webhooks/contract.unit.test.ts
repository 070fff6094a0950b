import { expect, test } from "vitest";
import { DEFAULT_EVENTS } from "../events/contract.ts";
import { expandEvents, webhooksContract } from "./contract.ts";

test("an empty filter means the specification's message and connection events", () => {
  expect(expandEvents([])).toEqual([...DEFAULT_EVENTS]);
  expect(expandEvents([])).toHaveLength(11);
});

test("the filter * means the 14 published names; an extra name must be named exactly", () => {
  expect(expandEvents(["*"])).toHaveLength(14);
  expect(expandEvents(["*"])).not.toContain("message.delivered");
  expect(expandEvents(["message.delivered"])).toEqual(["message.delivered"]);
});

test("a group filter means its published names, each once", () => {
  expect(expandEvents(["message.*", "message.sent"])).toHaveLength(7);
  expect(expandEvents(["webhook.*"])).toEqual(["webhook.sent", "webhook.failed", "webhook.retrying"]);
});

test.each([
  ["a line break in a value", { "X-A": "1\r\nX-Injected: yes" }],
  ["a bare line feed in a value", { "X-A": "1\nX-Injected: yes" }],
  ["a folded line in a value", { "X-A": "1\r\n 2" }],
  ["a character beyond ASCII in a value", { "X-A": "ação" }],
  ["a line break in a name", { "X-A\r\nX-B": "1" }],
  ["a space in a name", { "X A": "1" }],
  ["a colon in a name", { "X-A:": "1" }],
  ["no name", { "": "1" }],
  ["the host", { Host: "other.example" }],
  ["the length of the body", { "Content-Length": "1" }],
  ["the type of the body", { "content-type": "text/plain" }],
  ["a hop-by-hop header", { "Transfer-Encoding": "chunked" }],
  ["another hop-by-hop header", { Connection: "close" }],
  ["a proxy header", { "Proxy-Authorization": "x" }],
  ["the signature", { "X-Waygate-Signature": "sha256=00" }],
  ["the signature of the standard", { "webhook-signature": "v1,x" }],
  ["the name of the sender", { "User-Agent": "me" }],
  ["a value of 5,000 characters", { "X-A": "x".repeat(5_000) }],
  ["21 of them", Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, "1"]))],
])("custom headers are rejected with %s", (_, headers) => {
  const webhook = (more: object) => ({ id: 1, url: "https://shop.example/hook", ...more });
  const { input } = webhooksContract.createWebhook;
  expect(input.safeParse(webhook({ headers: { "X-A": "1" } })).success).toBe(true);
  expect(input.safeParse(webhook({ headers })).success).toBe(false);
});
