import { describe, expect, it } from "vitest";
import type { Jid } from "../../../network/driver.ts";
import type { InstanceStatus } from "../../../tables.ts";
import { type ConnectionEvent, findStatusTransition } from "./find-status-transition.ts";

const at = new Date();
const me = { jid: "5511999990001@s.whatsapp.net" as Jid, lid: null, phone: "5511999990001", push_name: null };
const EVENTS = {
  qr: { type: "qr", qr: "2@x", expires_at: at, attempt: 1, max_attempts: 5, reason: "new" },
  pairing_code: { type: "pairing_code", code: "ABCD-1234", expires_at: at },
  qr_expired: { type: "qr_expired" },
  pairing_failed: { type: "pairing_failed", error: { code: "wrong_code", message: "No.", action: "Again." } },
  passkey_required: {
    type: "passkey_required",
    passkey: { stage: "required", options: {}, code: null, expires_at: new Date() },
  },
  connected: { type: "connected", me, platform: "sandbox" },
  dropped: { type: "disconnected", reason: "connection_lost", will_retry: true },
  closed: { type: "disconnected", reason: "closed", will_retry: false },
  replaced: { type: "disconnected", reason: "replaced", will_retry: false },
  outdated: { type: "disconnected", reason: "outdated", will_retry: false },
  logged_out: { type: "logged_out", reason: "unlinked" },
  banned: { type: "banned", reason: "banned" },
  failed: { type: "failed", reason: "no driver" },
  unstartable: { type: "disconnected", reason: "library_failed", will_retry: false },
} satisfies Record<string, ConnectionEvent>;

type Cell = InstanceStatus | `${InstanceStatus}!` | "-";
const COLUMNS = [
  "connecting",
  "qr_pending",
  "passkey_required",
  "connected",
  "reconnecting",
  "disconnected",
  "error",
] as const;

/** One row per event, one column per previous status; `!`: the instance does not reconnect automatically. */
const TABLE: Record<keyof typeof EVENTS, readonly [Cell, Cell, Cell, Cell, Cell, Cell, Cell]> = {
  qr: ["qr_pending", "qr_pending", "qr_pending", "-", "qr_pending", "-", "-"],
  pairing_code: ["qr_pending", "qr_pending", "qr_pending", "-", "qr_pending", "-", "-"],
  qr_expired: ["qr_expired!", "qr_expired!", "qr_expired!", "-", "qr_expired!", "-", "-"],
  pairing_failed: ["connecting", "qr_pending", "passkey_required", "-", "-", "-", "-"],
  passkey_required: ["passkey_required", "passkey_required", "passkey_required", "-", "-", "-", "-"],
  connected: ["connected", "connected", "connected", "connected", "connected", "connected", "connected"],
  dropped: ["connecting", "connecting", "connecting", "reconnecting", "reconnecting", "-", "connecting"],
  closed: ["disconnected!", "disconnected!", "disconnected!", "reconnecting", "reconnecting", "-", "-"],
  replaced: ["disconnected!", "disconnected!", "disconnected!", "disconnected!", "disconnected!", "-", "-"],
  outdated: ["error", "error", "error", "error", "error", "-", "-"],
  logged_out: ["logged_out!", "logged_out!", "logged_out!", "logged_out!", "logged_out!", "-", "logged_out!"],
  banned: ["banned!", "banned!", "banned!", "banned!", "banned!", "-", "banned!"],
  failed: ["error", "error", "error", "error", "error", "-", "-"],
  unstartable: ["error", "error", "error", "error", "error", "-", "-"],
};

const shown = (found: ReturnType<typeof findStatusTransition>) =>
  found ? `${found.to}${found.isFinal ? "!" : ""}` : "-";

describe("the status of an instance", () => {
  it.each(Object.entries(TABLE))("changes as the table says after %s", (name, row) => {
    const event = EVENTS[name as keyof typeof EVENTS];
    const after = COLUMNS.map((status) =>
      shown(findStatusTransition({ status, wanted: "connected" }, event)),
    );
    expect(after).toEqual(row);
  });

  it("ignores the session once the customer has stopped the instance", () => {
    for (const event of Object.values(EVENTS)) {
      for (const status of COLUMNS) {
        expect(findStatusTransition({ status, wanted: "stopped" }, event)).toBeUndefined();
      }
    }
  });
});
