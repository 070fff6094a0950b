import { expect, test } from "vitest";
import { mergePairingChanges } from "./credential-store.ts";

const entry = (id: string, body: string) => ({ id, body, is_done: false });
const key = (id: string, value: string | null) => ({ kind: "session", id, value });
const NOTHING = { keys: [], journal_entries: [], deleted_journal_ids: [] };

test("A merged change has the last value of each key, even if deleted, and the last credentials", () => {
  const [older, newer] = [Buffer.from("older"), Buffer.from("newer")];
  const merged = mergePairingChanges([
    { credentials: older, keys: [key("1", "a"), key("2", "b")] },
    { keys: [key("1", null)] },
    { credentials: newer, keys: [key("2", "c")] },
    {},
  ]);
  expect(merged).toEqual({ ...NOTHING, credentials: newer, keys: [key("1", null), key("2", "c")] });
});

test("A key of another kind with the same id stays separate", () => {
  const other = { kind: "sender-key", id: "1", value: "b" };
  expect(mergePairingChanges([{ keys: [key("1", "a")] }, { keys: [other] }]).keys).toEqual([
    key("1", "a"),
    other,
  ]);
});

test("A journal entry that is deleted later is not stored first", () => {
  const merged = mergePairingChanges([
    { journal_entries: [entry("1", "a")] },
    { deleted_journal_ids: ["1", "2"] },
  ]);
  expect(merged).toEqual({ ...NOTHING, deleted_journal_ids: ["1", "2"] });
});

test("A journal entry that arrives again after its deletion is stored", () => {
  const merged = mergePairingChanges([
    { deleted_journal_ids: ["1"] },
    { journal_entries: [entry("1", "a")] },
  ]);
  expect(merged).toEqual({ ...NOTHING, journal_entries: [entry("1", "a")] });
});
