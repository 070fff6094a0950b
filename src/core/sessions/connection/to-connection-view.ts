import type { QrReason } from "../../../network/driver.ts";
import type { OutputOf } from "../../../platform/http/route.ts";
import { attentionOf, type InstanceRow, newChatsLockOf } from "../../instances/instances.ts";
import type { sessionsContract } from "../contract.ts";
import { toQrDataUrl } from "./qr-code-image.ts";

export type PairingErrorView = NonNullable<OutputOf<typeof sessionsContract.getInstanceQr>["pairing_error"]>;

/** Status and connected identity, in both number formats. */
export function toConnectionView(row: InstanceRow) {
  const isConnected = row.status === "connected";
  const isPaired = row.jid !== null;
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    connection_status: row.status,
    connected: isConnected,
    logged_in: isPaired,
    loggedIn: isPaired,
    phone: row.phone,
    phone_connected: row.phone,
    phoneConnected: row.phone,
    jid: row.jid,
    lid: row.lid,
    profile_name: row.profile_name,
    profileName: row.profile_name,
    profile_picture_url: row.profile_picture_url,
    profilePictureUrl: row.profile_picture_url,
    platform: row.platform,
    updated_at: row.updated_at,
    updatedAt: row.updated_at,
    reason: isConnected ? null : row.last_disconnect_reason,
    attempts: row.reconnect_attempts,
    new_chats_locked_until: newChatsLockOf(row),
    pairing_error: toPairingErrorView(row),
    ...toAdvice(row),
    attention: attentionOf(row),
  };
}

/** Why the last pairing failed; null if none has failed since the last connect. */
export function toPairingErrorView({ pairing_error }: InstanceRow): PairingErrorView | null {
  return pairing_error as PairingErrorView | null;
}

/** Advice for the person who scans the QR. */
export const QR_ADVICE: Record<QrReason, string | null> = {
  new: null,
  refreshed:
    "WhatsApp has replaced the QR code while it was scanned. Scan the new code once more with the same phone.",
};

function toAdvice(row: InstanceRow) {
  const qr_reason = hasPairing(row) ? row.qr_reason : null;
  return { qr_reason, hint: qr_reason && QR_ADVICE[qr_reason] };
}

/** The current QR or pairing code; all fields are null if there is none. */
export async function toPairingView(row: InstanceRow) {
  const isWaiting = hasPairing(row);
  const qr_code = isWaiting ? row.qr : null;
  return {
    qr: qr_code === null ? null : await toQrDataUrl(qr_code),
    qr_code,
    pairing_code: isWaiting ? row.pairing_code : null,
    pairing_phone: isWaiting && row.pairing_code !== null ? row.pairing_phone : null,
    expires_at: isWaiting ? row.qr_expires_at : null,
    attempt: isWaiting ? row.qr_attempt : null,
    max_attempts: isWaiting ? row.qr_max_attempts : null,
    ...toAdvice(row),
    pairing_error: toPairingErrorView(row),
  };
}

/** Whether there is a valid QR or pairing code. */
export function hasPairing(row: InstanceRow): boolean {
  const isCurrent = row.qr_expires_at !== null && row.qr_expires_at.getTime() > Date.now();
  return row.status === "qr_pending" && isCurrent;
}
