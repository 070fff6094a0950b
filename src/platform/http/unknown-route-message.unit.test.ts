import { expect, test } from "vitest";
import { unknownRouteMessage } from "./unknown-route-message.ts";

const PEERS = [
  "/message/sendText/sales",
  "/sendText",
  "/api/sendText",
  "/send/text",
  "/instance/connect/x",
  "/api/sessions",
];

test.each(PEERS)("%s, a path of another gateway, points to the page about moving", (path) => {
  expect(unknownRouteMessage(path)).toContain("/docs/waygate/migration");
});

test("another unknown path points to the reference", () => {
  for (const path of ["/x", "/api/v1/nope", "/messages", "/favicon.png"]) {
    expect(unknownRouteMessage(path)).toBe("There is no such route. /docs lists every route.");
  }
});

test("the path of the metrics names the setting that opens it", () => {
  expect(unknownRouteMessage("/metrics")).toBe(
    "There is no such route while WAYGATE_METRICS_TOKEN is not set.",
  );
});
