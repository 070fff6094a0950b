import { expect, test } from "vitest";
import { Secret } from "../secrets/secret.ts";
import { createMetrics } from "./metrics.ts";

test("the process is sampled only if somebody can read the metrics", () => {
  const namesOf = (token?: Secret) =>
    createMetrics(token)
      .registry.getMetricsAsArray()
      .map(({ name }) => name);
  // The one that an alert watches.
  expect(namesOf(new Secret("metrics-token"))).toContain("nodejs_eventloop_lag_p90_seconds");
  expect(namesOf()).toEqual(["waygate_http_request_seconds"]);
});
