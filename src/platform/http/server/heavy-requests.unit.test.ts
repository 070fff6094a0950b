import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { HeavyRequests } from "./heavy-requests.ts";

const STAYS = new AbortController().signal;

describe("heavy requests", () => {
  test("of one account wait behind two, and other accounts do not wait behind them", async () => {
    const heavy = new HeavyRequests();
    const [first] = await Promise.all([heavy.begin(1, STAYS), heavy.begin(1, STAYS)]);
    const begun: string[] = [];
    const third = heavy.begin(1, STAYS).then(() => begun.push("third of 1"));
    await heavy.begin(2, STAYS).then(() => begun.push("first of 2"));
    first?.end();
    await third;
    expect(begun).toEqual(["first of 2", "third of 1"]);
  });

  test("whose clients do not read delay no others, and produce no chunk in advance", async () => {
    const heavy = new HeavyRequests();
    const made: number[] = [];
    const open = async (account: number) => {
      const request = await heavy.begin(account, STAYS);
      const pieces = (async function* () {
        yield made.push(account);
      })();
      const stream = request.streamInTurns(Readable.from(pieces, { highWaterMark: 0 }));
      request.end();
      return stream;
    };
    const unread = [await open(1), await open(1), await open(2), await open(2)];
    const other = await heavy.begin(3, STAYS);
    const third = open(1);
    expect(await Promise.race([third, Promise.resolve("waits")])).toBe("waits");
    expect(made).toEqual([]);
    other.end();
    unread[0]?.destroy();
    expect(await (await third).toArray()).toHaveLength(1);
    expect(await unread[2]?.toArray()).toHaveLength(1);
    expect(made).toEqual([1, 2]);
  });

  test("are refused when 20 of the account wait, until one of them has left", async () => {
    const heavy = new HeavyRequests();
    const leaves = new AbortController();
    await Promise.all([heavy.begin(1, STAYS), heavy.begin(1, STAYS)]);
    const leaving = heavy.begin(1, leaves.signal);
    for (let nth = 1; nth < 20; nth++) void heavy.begin(1, STAYS);
    await expect(heavy.begin(1, STAYS)).rejects.toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
    leaves.abort();
    await expect(leaving).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const now = heavy.begin(1, STAYS);
    await expect(Promise.race([now, Promise.resolve("waits")])).resolves.toBe("waits");
    await expect(heavy.begin(2, STAYS)).resolves.toBeDefined();
  });
});
