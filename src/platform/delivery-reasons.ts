import type { ParamsIn, ReasonTable } from "./issue-codes.ts";

/** Why a request to another program failed. */
export const REQUEST_REASONS = {
  status: ["status"],
  n8n_starting: [],
  dns: [],
  refused: [],
  reset: [],
  tls: [],
  timeout_connect: [],
  timeout_total: [],
  protocol: [],
  blocked: [],
  invalid_url: [],
} as const satisfies ReasonTable;

/** Why a delivery failed, or a webhook was disabled; `docs/reference/errors.md` is generated from this. */
export const DELIVERY_REASONS = {
  ...REQUEST_REASONS,
  rejected: [],
  no_success: ["days"],
  discarded: [],
  webhook_removed: [],
  webhook_inactive: [],
  event_gone: [],
  no_such_format: [],
  not_in_format: [],
  unknown: [],
} as const satisfies ReasonTable;

export type DeliveryReason = keyof typeof DELIVERY_REASONS;

export interface DeliveryFailure {
  reason: DeliveryReason;
  params: ParamsIn<typeof DELIVERY_REASONS, DeliveryReason>;
}

/** The reason in a row that has the class of an error, and the status of a response; null: it did not fail. */
export function deliveryFailureOf(
  error_class: string | null,
  status: number | null,
): DeliveryFailure | { reason: null; params: Record<string, never> } {
  if (error_class === null) return { reason: null, params: {} };
  if (error_class === "status" && status !== null)
    // Only an n8n that starts responds with success and discards the event.
    return status < 300 ? { reason: "n8n_starting", params: {} } : { reason: "status", params: { status } };
  return { reason: isDeliveryReason(error_class) ? error_class : "unknown", params: {} };
}

function isDeliveryReason(name: string): name is DeliveryReason {
  return Object.hasOwn(DELIVERY_REASONS, name);
}
