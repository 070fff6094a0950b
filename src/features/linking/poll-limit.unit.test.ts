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
