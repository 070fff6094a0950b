import { afterEach, describe, expect, it, vi } from "vitest";
import { createNameLookup, NameError } from "./name-lookup.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A resolver that answers when it is told to. */
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
  return { asked, open, lookup: createNameLookup(lookup) };
}

describe("name lookup", () => {
  it("asks once for equal names at the same time, and again afterwards", async () => {
    const { asked, open, lookup } = controlled();
    const both = Promise.all([lookup("a.test"), lookup("a.test")]);
    await expect.poll(() => asked).toEqual(["a.test"]);
    open.get("a.test")?.answer();
    expect(await both).toEqual([[{ address: "8.8.8.8", family: 4 }], [{ address: "8.8.8.8", family: 4 }]]);
    void lookup("a.test");
    await expect.poll(() => asked).toEqual(["a.test", "a.test"]);
  });

  it("runs two at once, in turn, so that files and passwords keep their threads", async () => {
    const { asked, open, lookup } = controlled();
    const all = Promise.allSettled(["a.test", "b.test", "c.test", "d.test"].map(lookup));
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

  it("calls every failure a NameError", async () => {
    const { asked, open, lookup } = controlled();
    const failing = expect(lookup("a.test")).rejects.toBeInstanceOf(NameError);
    await expect.poll(() => asked).toHaveLength(1);
    open.get("a.test")?.fail();
    await failing;
  });

  it("lets a name that failed slowly rest for 30 s, and no other", async () => {
    vi.useFakeTimers();
    const { asked, open, lookup } = controlled();
    const slow = expect(lookup("slow.test")).rejects.toBeInstanceOf(NameError);
    await vi.advanceTimersByTimeAsync(3100);
    open.get("slow.test")?.fail();
    await slow;
    await expect(lookup("slow.test")).rejects.toThrow("rests");
    void lookup("other.test");
    expect(asked).toEqual(["slow.test", "other.test"]);
    await vi.advanceTimersByTimeAsync(30_100);
    void lookup("slow.test");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(["slow.test", "other.test", "slow.test"]);
  });

  it("asks the system for real names", async () => {
    const addresses = await createNameLookup()("localhost");
    expect(addresses.map(({ address }) => address)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]),
    );
  });
});
