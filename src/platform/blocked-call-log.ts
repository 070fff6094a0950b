import { type BoundedWarningsOptions, createBoundedWarnings } from "./bounded-warnings.ts";

/** For whom a call goes out, as far as the caller knows. */
export interface Tenant {
  account_id?: number;
  instance_id?: number;
}

/** What was refused: the URL itself, an address behind its name, or the call by the egress proxy. */
export type BlockReason = "url" | "resolved" | "proxy";

export interface BlockedCall extends Tenant {
  /** With the port that the URL names. The rest of the URL may be secret. */
  host: string;
  reason: BlockReason;
}

export type NoteBlocked = (call: BlockedCall) => void;

/** Warns of outgoing calls that the policy refused, bounded per tenant. */
export function createBlockedCallLog(
  options: Pick<BoundedWarningsOptions<BlockedCall>, "log" | "clock">,
): NoteBlocked {
  return createBoundedWarnings({
    ...options,
    message: "an outgoing call was blocked",
    sourceOf: ({ account_id, instance_id }) => `${account_id}/${instance_id}`,
  });
}
