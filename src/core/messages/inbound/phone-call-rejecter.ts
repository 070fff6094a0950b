import { z } from "zod";
import type { Job, JobResult } from "../../../engine/engine.ts";
import { addJobs } from "../../../engine/job-store.ts";
import type { Identity, Jid, NetworkEvent, Session } from "../../../network/driver.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import type { Log } from "../../../platform/log/log.ts";
import { actionGroup } from "../actions/action-groups.ts";
import { type AcceptSendOptions, acceptSend, isAcceptUnknown } from "../send/accept-send.ts";
import type { ReadInstance } from "../send/sending-instance.ts";

export type IncomingPhoneCall = Extract<NetworkEvent, { type: "call_received" }>;

const phoneCallRef = z.object({
  do: z.literal("reject_call"),
  call_id: z.string(),
  from: z.object({
    jid: z.string().transform((jid) => jid as Jid),
    lid: z
      .string()
      .nullable()
      .transform((lid) => lid as Jid | null),
    phone: z.string().nullable(),
  }),
  at: z.coerce.date(),
});

/** A phone rings for at most this long. */
const RINGS_MS = 60_000;
/** A message about a call that ended long ago would confuse the caller. */
const MESSAGE_FOR_MS = 600_000;
const TIMEOUT_MS = 10_000;

/** Queues the rejection of a call if its instance rejects calls, in the transaction that records the call. */
export async function queuePhoneCallRejection(
  trx: Trx,
  instanceId: number,
  { call_id, from, at }: IncomingPhoneCall,
): Promise<number[]> {
  const instance = await trx
    .selectFrom("instance")
    .select(["lane", "settings"])
    .where("id", "=", instanceId)
    .executeTakeFirst();
  if (!instance?.settings.reject_calls) return [];
  const ref = { do: "reject_call", call_id, from: toCaller(from), at };
  await addJobs(trx, [{ lane: instance.lane, prio: 0, pos: 0, grp: actionGroup(from.jid), ref }]);
  return [instance.lane];
}

function toCaller({ jid, lid, phone }: Identity) {
  return { jid, lid, phone };
}

export interface PhoneCallRejecterOptions extends AcceptSendOptions {
  readInstance: ReadInstance;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  messageOf: (instanceId: number) => Promise<string | null>;
  log: Log;
}

/** Runs the jobs of rejected calls: rejects the call, and sends the caller the instance's message once. */
export function createPhoneCallRejecter(options: PhoneCallRejecterOptions): (job: Job) => Promise<JobResult> {
  const { connectedSession, messageOf, log } = options;

  return async ({ lane, ref }) => {
    const id = Number(lane.key);
    const { call_id, from, at } = phoneCallRef.parse(ref);
    const ageMs = Date.now() - at.getTime();
    if (ageMs < RINGS_MS) await reject(connectedSession(id), call_id, from.jid);
    const text = ageMs < MESSAGE_FOR_MS ? await messageOf(id) : null;
    if (text) await report(id, call_id, from, text).catch((error) => giveUp(error, id));
    return { end: "done" };
  };

  async function report(
    id: number,
    call_id: string,
    { jid, lid, phone }: ReturnType<typeof toCaller>,
    text: string,
  ): Promise<void> {
    await acceptSend(options, {
      instance: await options.readInstance(id),
      recipient: { jid, lid, phone, type: "contact" },
      content: { kind: "text", text },
      mode: "async",
      origin: "api",
      client_message_id: null,
      track_id: null,
      metadata: null,
      delay_ms: 0,
      // The network repeats its report of a call, and the job may run twice: the caller gets one message.
      idempotency: { route: "refused-call", key: call_id, fingerprint: "" },
    });
  }

  /** Stops after a permanent error, such as an exceeded monthly quota; retries all others. */
  function giveUp(error: unknown, instance_id: number): void {
    if (!(error instanceof GatewayError) || isAcceptUnknown(error)) throw error;
    log.warn({ err: error, instance_id }, "the rejected phone caller was not sent the reason");
  }
}

async function reject(session: Session | undefined, callId: string, from: Jid): Promise<void> {
  const rejecting = session?.rejectCall?.(callId, from);
  if (rejecting) await withTimeout(rejecting, TIMEOUT_MS);
}
