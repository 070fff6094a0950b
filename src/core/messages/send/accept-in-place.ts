import type { Engine } from "../../../engine/engine.ts";
import { retryUntilCommitted } from "../../../engine/retry-until-committed.ts";
import type { Db } from "../../../platform/db/database.ts";
import { isBackendKnown } from "../../../platform/db/unknown-commit-outcome.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import { findLateMessage, isInsertUnknown, requireLateMessage } from "./find-late-message.ts";
import type { InsertedMessage, MessageInserter, NewMessage } from "./insert-messages.ts";
import type { SendReservation } from "./run-send.ts";
import { toSendRow } from "./submit-accepted.ts";
import { clearSubmitted } from "./submit-sends.ts";

interface AcceptInPlaceOptions {
  db: Db;
  engine: Engine;
  inserter: MessageInserter;
  ackTimeoutMs: number;
}

/**
 * Accepts a send, and begins it in its reserved place if the same statement could submit it. Undefined: nothing
 * is accepted.
 */
export async function acceptInPlace(
  options: AcceptInPlaceOptions,
  message: NewMessage,
  place: SendReservation,
): Promise<Pick<InsertedMessage, "id"> | undefined> {
  let inserted: InsertedMessage | undefined;
  try {
    inserted = await options.inserter.write({ ...message, owner: place.owner });
  } catch (error) {
    if (isInsertUnknown(error)) return findInPlace(options, message, place, error);
    place.cancel();
    throw error;
  }
  if (inserted) faultPoint("accept:after-commit");
  if (inserted?.job && inserted.submitted) {
    faultPoint("accept:before-run");
    place.run(inserted.job, toSendRow({ ...message, id: inserted.id }, inserted.submitted));
  } else {
    place.cancel();
  }
  return inserted;
}

/** Keeps the place, perhaps for longer than the caller waits, until the commit has arrived or cannot arrive. */
async function findInPlace(
  options: AcceptInPlaceOptions,
  message: NewMessage,
  place: SendReservation,
  cause: unknown,
): Promise<{ id: number }> {
  const found = withdrawLate(options, message, place, cause).finally(() => place.cancel());
  return requireLateMessage(await withTimeout(found, options.ackTimeoutMs), message, cause);
}

/**
 * Lets the lane run a late send as one that has not begun: nothing has gone out from its place. If the lane is
 * lost meanwhile, the next owner treats the send as one with an unknown outcome.
 */
async function withdrawLate(
  { db, engine, ackTimeoutMs }: AcceptInPlaceOptions,
  message: NewMessage,
  { lane, owner }: SendReservation,
  cause: unknown,
): Promise<{ id: number } | null | undefined> {
  const giveUpAt = isBackendKnown(cause) ? Number.POSITIVE_INFINITY : performance.now() + ackTimeoutMs;
  const isOwned = () => engine.findOwnedLane(lane.kind, lane.key)?.epoch === lane.epoch;
  const found = await findLateMessage(db, message, cause, () => isOwned() && performance.now() < giveUpAt);
  if (!found) return found;
  await retryUntilCommitted(engine, lane, () => clearSubmitted(db, owner.node, lane, found.id)).catch(
    () => {},
  );
  return found;
}
