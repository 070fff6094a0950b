import { expect, test } from "vitest";
import { createPollLimit } from "./poll-limit.ts";

test("one address holds at most 50 polls of links at once, and can poll again after one ends", async () => {
  const poll = createPollLimit();
  let end = () => {};
  const changed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const held = poll({ instance_id: 0, ip: "192.0.2.1" }, () => changed);
  for (let nth = 1; nth < 50; nth += 1)
    void poll({ instance_id: nth, ip: "192.0.2.1" }, () => new Promise(() => {}));
  const next = (ip: string) => poll({ instance_id: 50, ip }, async () => "state");
  await expect(next("192.0.2.1")).rejects.toMatchObject({ code: "RATE_LIMITED", details: { limit: 50 } });
  expect(await next("192.0.2.2")).toBe("state");
  end();
  await held;
  expect(await next("192.0.2.1")).toBe("state");
});

const forever = () => new Promise<never>(() => {});

test("one link holds at most five polls at once, and another link has its own five", async () => {
  const poll = createPollLimit();
  for (let nth = 0; nth < 5; nth += 1) void poll({ instance_id: 1, ip: `192.0.2.${nth}` }, forever);
  const next = (instance_id: number) => poll({ instance_id, ip: "192.0.2.9" }, async () => "state");
  await expect(next(1)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    message:
      "5 requests are already waiting for a change. Close other tabs of this page, or try again later.",
    details: { limit: 5 },
    retryAfterSeconds: 20,
  });
  expect(await next(2)).toBe("state");
});

test("a poll that fails or is rejected holds no place", async () => {
  const poll = createPollLimit();
  const from = { instance_id: 1, ip: "192.0.2.1" };
  for (let nth = 0; nth < 6; nth += 1)
    await expect(poll(from, () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  for (let nth = 0; nth < 5; nth += 1) void poll({ ...from, instance_id: nth }, forever);
  for (let nth = 0; nth < 4; nth += 1) void poll(from, forever);
  for (let nth = 0; nth < 50; nth += 1) await expect(poll(from, forever)).rejects.toThrow();
  expect(await poll({ ...from, instance_id: 7 }, async () => "state")).toBe("state");
});

test("the end of one poll frees one place, not all of them", async () => {
  const poll = createPollLimit();
  const from = { instance_id: 1, ip: "192.0.2.1" };
  for (let nth = 0; nth < 4; nth += 1) void poll(from, forever);
  expect(await poll(from, async () => "state")).toBe("state");
  void poll(from, forever);
  await expect(poll(from, forever)).rejects.toMatchObject({ code: "RATE_LIMITED" });
});
