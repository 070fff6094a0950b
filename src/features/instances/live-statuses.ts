import type { InstanceStatus } from "../../tables.ts";

/** Statuses of an instance that is being paired. */
export const PAIRING_STATUSES = ["connecting", "qr_pending", "passkey_required"] as const;

/** Statuses of a paired instance that is connected, or reconnects by itself. */
export const ONLINE_STATUSES = ["connected", "reconnecting"] as const;

/** Statuses of an instance that has, or is about to have, a live session. */
export const LIVE_STATUSES: readonly InstanceStatus[] = [...PAIRING_STATUSES, ...ONLINE_STATUSES];
