import { expect, test } from "vitest";
import { createRejectedRequestLog, type RejectedRequest } from "./rejected-request-log.ts";

test("a flood of rejected requests logs ten lines per network, and later the number of the rest", () => {
  let now = 0;
  const lines: object[] = [];
  const log = { warn: (fields: object) => void lines.push(fields) };
  const clock = { now: () => new Date(now), monotonicMs: () => now };
  const note = createRejectedRequestLog({ log: log as never, clock });
  const from = (ip: string): RejectedRequest => ({
    ip,
    method: "GET",
    route: "/api/v1/instances",
    status: 401,
    code: "INVALID_API_KEY",
    request_id: "req_1",
  });
  for (let times = 0; times < 500; times++) note(from("203.0.113.0"));
  expect(lines).toHaveLength(10);
  note(from("198.51.100.0"));
  expect(lines.at(-1)).toEqual({ ...from("198.51.100.0"), count: 490 });
  for (let network = 0; network < 500; network++) note(from(`192.0.${network}.0`));
  expect(lines).toHaveLength(120);
  now = 60_000;
  note(from("203.0.113.0"));
  expect(lines).toHaveLength(121);
  expect(lines.at(-1)).toMatchObject({ ip: "203.0.113.0", count: 391 });
});
