import { expect, test } from "vitest";
import { isLinked } from "./is-linked.ts";

const jid = "5511999990004@s.whatsapp.net";

test.each(["reconnecting", "connecting", "disconnected", "error"] as const)(
  "a message waits for a linked instance in the state %s",
  (status) => {
    expect(isLinked({ connected: false, jid, status })).toBe(true);
    expect(isLinked({ connected: false, jid: null, status })).toBe(false);
  },
);

test.each(["logged_out", "banned"] as const)("no message waits for an instance that is %s", (status) => {
  expect(isLinked({ connected: false, jid, status })).toBe(false);
});
