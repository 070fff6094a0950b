import { describe, expect, test } from "vitest";
import type { NetworkEvent } from "./driver.ts";
import { SESSION_START_TIMING, SessionStartRetry } from "./session-start-retry.ts";

interface Started {
  retry: SessionStartRetry;
  /** Reports that may be lost, and reports that repeat until they are stored. */
  reported: NetworkEvent[];
  stored: NetworkEvent[];
  warned: { fields: object; message: string }[];
}

function start(isTransientError?: (error: unknown) => boolean, isReportLost = false): Started {
  const [reported, stored, warned]: [NetworkEvent[], NetworkEvent[], Started["warned"]] = [[], [], []];
  const retry = new SessionStartRetry({
    timing: SESSION_START_TIMING,
    instance_id: 4,
    isTransientError,
    log: { warn: (fields, message) => void warned.push({ fields, message }) },
    async report(event) {
      reported.push(event);
      if (isReportLost) throw new Error("the database is away");
    },
    async reportDurably(event) {
      stored.push(event);
    },
  });
  return { retry, reported, stored, warned };
}

async function failTimes({ retry }: Started, times: number, error: unknown = new Error("broken")) {
  const waits: (number | "end")[] = [];
  for (let n = 0; n < times; n++) {
    const next = await retry.onFailure("session_failed", error);
    waits.push(next === "end" ? next : next.waitMs);
  }
  return waits;
}

const shortage = (code: string) => Object.assign(new Error("short"), { code });

describe("a session start that fails because of a gateway defect", () => {
  test("is retried after a wait that doubles, and ends at the fourth failure", async () => {
    const started = start();
    const waits = await failTimes(started, 4);
    expect(waits.at(-1)).toBe("end");
    for (const [index, limitMs] of [1_000, 2_000, 4_000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(limitMs / 2);
      expect(waits[index]).toBeLessThanOrEqual(limitMs);
    }
  });

  test("reports each attempt with its number, and stores the last report", async () => {
    const started = start();
    await failTimes(started, 4);
    expect(started.reported).toEqual(
      [1, 2, 3].map((attempt) => ({
        type: "disconnected",
        reason: "session_failed",
        will_retry: true,
        detail: `The gateway cannot start the session of this instance. Its log shows the cause to the operator. Try ${attempt} of 4.`,
      })),
    );
    expect(started.stored).toEqual([
      {
        type: "disconnected",
        reason: "session_failed",
        will_retry: false,
        detail:
          "The gateway cannot start the session of this instance. Its log shows the cause to the operator.",
      },
    ]);
  });

  test.each([
    ["library_failed", "`waygate doctor`"],
    ["credentials_unreadable", "WAYGATE_SECRET_KEY"],
  ] as const)("reports what the operator can do about %s", async (fault, remedy) => {
    const started = start();
    await started.retry.onFailure(fault, new Error("broken"));
    expect(started.reported[0]).toMatchObject({ reason: fault, detail: expect.stringContaining(remedy) });
  });

  test("is logged with the cause, the instance and the wait", async () => {
    const started = start();
    const error = new Error("broken");
    const [wait_ms] = await failTimes(started, 1, error);
    expect(started.warned).toEqual([
      {
        fields: { err: error, instance_id: 4, reason: "session_failed", wait_ms },
        message: "a session could not be started",
      },
    ]);
  });

  test("is retried without a log, too", async () => {
    const retry = new SessionStartRetry({
      timing: SESSION_START_TIMING,
      log: undefined,
      report: async () => {},
      reportDurably: async () => {},
    });
    expect(await retry.onFailure("session_failed", new Error("broken"))).toEqual({
      waitMs: expect.any(Number),
    });
  });

  test("is retried even if its report is lost", async () => {
    const started = start(undefined, true);
    expect(await failTimes(started, 1)).toEqual([expect.any(Number)]);
  });

  test("counts anew after a start that succeeds", async () => {
    const started = start();
    await failTimes(started, 3);
    started.retry.reset();
    expect(await failTimes(started, 4)).toEqual([...Array(3).fill(expect.any(Number)), "end"]);
  });

  test("spreads the retries of the sessions of a node", async () => {
    const waits = await Promise.all(Array.from({ length: 100 }, () => failTimes(start(), 1)));
    const all = waits.map(([wait]) => Number(wait));
    expect(Math.min(...all)).toBeLessThan(600);
    expect(Math.max(...all)).toBeGreaterThan(900);
  });
});

describe("a session start that fails because of a temporary error", () => {
  test.each(["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EAGAIN"])("such as %s has no limit", async (code) => {
    const started = start();
    const waits = await failTimes(started, 10, shortage(code));
    expect(waits).not.toContain("end");
    expect(waits.at(-1)).toBeGreaterThanOrEqual(15_000);
    expect(waits.at(-1)).toBeLessThanOrEqual(30_000);
    expect(started.reported.at(-1)).toEqual({
      type: "disconnected",
      reason: "session_failed",
      will_retry: true,
      detail: "The gateway cannot reach its database, or its machine is short of resources. Try 10.",
    });
  });

  test("such as an unreachable database has no limit", async () => {
    const isAway = (error: unknown) => error instanceof TypeError;
    expect(await failTimes(start(isAway), 5, new TypeError("away"))).not.toContain("end");
    expect(await failTimes(start(isAway), 4, new Error("broken"))).toContain("end");
  });

  test.each([shortage("ENOENT"), { code: "EMFILE" }, "EMFILE", undefined])(
    "does not include %j",
    async (error) => {
      expect(await failTimes(start(), 4, error)).toContain("end");
    },
  );
});
