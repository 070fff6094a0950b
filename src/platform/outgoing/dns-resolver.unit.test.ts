import { afterEach, describe, expect, it, vi } from "vitest";
import { createDnsResolver, DnsResolutionError } from "./dns-resolver.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A resolver that responds when the test lets it. */
function controlled() {
  const asked: string[] = [];
  const open = new Map<string, { answer(): void; fail(): void }>();
  const lookup = (name: string) =>
    new Promise<{ address: string; family: number }[]>((resolve, reject) => {
      asked.push(name);
      open.set(name, {
        answer: () => resolve([{ address: "8.8.8.8", family: 4 }]),
        fail: () => reject(Object.assign(new Error("getaddrinfo"), { code: "EAI_AGAIN" })),
      });
    });
  return { asked, open, lookup: createDnsResolver(lookup) };
}

describe("the DNS resolver", () => {
  it("sends one query for equal names at the same time, and a new one afterwards", async () => {
    const { asked, open, lookup } = controlled();
    const both = Promise.all([lookup("a.test"), lookup("a.test")]);
    await expect.poll(() => asked).toEqual(["a.test"]);
    open.get("a.test")?.answer();
    expect(await both).toEqual([[{ address: "8.8.8.8", family: 4 }], [{ address: "8.8.8.8", family: 4 }]]);
    void lookup("a.test");
    await expect.poll(() => asked).toEqual(["a.test", "a.test"]);
  });

  /** A name that resolved is classified differently from one that did not. */
  async function resolve({ asked, open, lookup }: ReturnType<typeof controlled>, ...names: string[]) {
    for (const name of names) {
      const answer = lookup(name);
      open.get(name)?.answer();
      await answer;
    }
    asked.length = 0;
  }

  it("runs two queries at once, in order, so that files and passwords keep their threads", async () => {
    const resolver = controlled();
    const names = ["a.test", "b.test", "c.test", "d.test"];
    await resolve(resolver, ...names);
    const { asked, open, lookup } = resolver;
    const all = Promise.allSettled(names.map(lookup));
    await expect.poll(() => asked).toEqual(["a.test", "b.test"]);
    open.get("b.test")?.fail();
    await expect.poll(() => asked).toEqual(["a.test", "b.test", "c.test"]);
    open.get("a.test")?.answer();
    await expect.poll(() => asked).toHaveLength(4);
    open.get("c.test")?.answer();
    open.get("d.test")?.answer();
    expect((await all).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
  });

  it("reserves a slot for names that resolved, however many others under one domain do not", async () => {
    vi.useFakeTimers();
    const resolver = controlled();
    await resolve(resolver, "good.test", "better.test");
    const { asked, open, lookup } = resolver;
    const dead = Array.from({ length: 20 }, (_, i) => `hook-${i}.dead.test`);
    const all = Promise.allSettled(dead.map(lookup));
    const good = Promise.all(["good.test", "better.test"].map(lookup));
    expect(asked).toEqual(["hook-0.dead.test", "good.test"]);
    open.get("good.test")?.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(["hook-0.dead.test", "good.test", "better.test"]);
    open.get("better.test")?.answer();
    await good;
    for (const [i, name] of dead.entries()) {
      open.get(name)?.fail();
      await vi.advanceTimersByTimeAsync(0);
      expect(asked).toHaveLength(Math.min(i + 4, 22));
    }
    expect((await all).every(({ status }) => status === "rejected")).toBe(true);
  });

  it("gives one slot at most to domains that failed slowly, and the other slot to new names", async () => {
    vi.useFakeTimers();
    const { asked, open, lookup } = controlled();
    const slow = Promise.allSettled(["a.one.test", "a.two.test"].map(lookup));
    await vi.advanceTimersByTimeAsync(3100);
    for (const name of ["a.one.test", "a.two.test"]) open.get(name)?.fail();
    await slow;
    for (const name of ["b.one.test", "b.two.test", "new.test"]) void lookup(name).catch(() => {});
    expect(asked.slice(2)).toEqual(["b.one.test", "new.test"]);
  });

  it("removes a name from the queue when no caller has requested it for 6 s", async () => {
    vi.useFakeTimers();
    const { asked, open, lookup } = controlled();
    const held = expect(lookup("held.dead.test")).rejects.toBeInstanceOf(DnsResolutionError);
    const left = expect(lookup("left.dead.test")).rejects.toThrow("in time");
    const wanted = lookup("wanted.dead.test");
    await vi.advanceTimersByTimeAsync(4000);
    expect(lookup("wanted.dead.test")).toBe(wanted);
    await vi.advanceTimersByTimeAsync(4000);
    open.get("held.dead.test")?.fail();
    await held;
    await left;
    expect(asked).toEqual(["held.dead.test", "wanted.dead.test"]);
    open.get("wanted.dead.test")?.answer();
    expect(await wanted).toHaveLength(1);
  });

  it("reports every failure as a DnsResolutionError", async () => {
    const { asked, open, lookup } = controlled();
    const failing = expect(lookup("a.test")).rejects.toBeInstanceOf(DnsResolutionError);
    await expect.poll(() => asked).toHaveLength(1);
    open.get("a.test")?.fail();
    await failing;
  });

  it("caches a slow failure for 30 s, for that name only", async () => {
    vi.useFakeTimers();
    const { asked, open, lookup } = controlled();
    const slow = expect(lookup("slow.test")).rejects.toBeInstanceOf(DnsResolutionError);
    await vi.advanceTimersByTimeAsync(3100);
    open.get("slow.test")?.fail();
    await slow;
    await expect(lookup("slow.test")).rejects.toThrow("failed slowly");
    const other = lookup("other.test");
    expect(asked).toEqual(["slow.test", "other.test"]);
    open.get("other.test")?.answer();
    await other;
    await vi.advanceTimersByTimeAsync(30_100);
    void lookup("slow.test");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(["slow.test", "other.test", "slow.test"]);
  });

  it("resolves real names through the system", async () => {
    const addresses = await createDnsResolver()("localhost");
    expect(addresses.map(({ address }) => address)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]),
    );
  });
});
