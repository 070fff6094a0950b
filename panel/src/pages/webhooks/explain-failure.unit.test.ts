import { expect, test } from "vitest";
import { failureKindOf } from "./explain-failure.ts";

const failed = (status_code: number | null, error_class: string | null) =>
  failureKindOf({ success: false, status_code, error_class });

test("a failure without a response is explained by its class, and an unknown one as unknown", () => {
  expect(failed(null, "dns")).toBe("dns");
  expect(failed(null, "timeout_total")).toBe("timeout_total");
  expect(failed(null, "something new")).toBe("unknown");
});

test("a failure with a response is explained by its status", () => {
  const kinds = [200, 302, 401, 403, 404, 405, 410, 413, 418, 429, 500, 502, 503].map((status) =>
    failed(status, "status"),
  );
  expect(kinds).toEqual([
    "starting",
    "redirect",
    "unauthorised",
    "unauthorised",
    "notFound",
    "method",
    "gone",
    "large",
    "refusal",
    "busy",
    "crash",
    "crash",
    "busy",
  ]);
});
