import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type DeferredChange, DeferredChanges } from "./deferred-changes.ts";

const MARKER: DeferredChange = {
  journal_entries: [{ id: "a", body: "", is_done: true }],
  deleted_journal_ids: [],
};
const DELETION: DeferredChange = { journal_entries: [], deleted_journal_ids: ["a"] };

describe("deferred changes", () => {
  let due: number;
  let deferred: DeferredChanges;

  beforeEach(() => {
    vi.useFakeTimers();
    due = 0;
    deferred = new DeferredChanges(() => due++);
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const add = (change: DeferredChange) => {
    deferred.add(change);
    deferred.startTimer();
  };

  it("are due after 200 ms, and deletions alone after ten seconds", () => {
    add(DELETION);
    vi.advanceTimersByTime(9_999);
    expect(due).toBe(0);
    vi.advanceTimersByTime(1);
    expect(due).toBe(1);
    deferred.take();
    add(DELETION);
    add(MARKER);
    vi.advanceTimersByTime(200);
    expect(due).toBe(2);
  });

  it("are not due once they are taken", () => {
    add(MARKER);
    add(DELETION);
    expect(deferred.take()).toEqual({ ...MARKER, deleted_journal_ids: ["a"] });
    vi.advanceTimersByTime(20_000);
    expect([due, deferred.isEmpty]).toEqual([0, true]);
  });
});
