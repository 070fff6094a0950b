import type { BatchWriter } from "../../../../engine/batch-queue.ts";
import type { Engine, Job } from "../../../../engine/engine.ts";
import type { Session } from "../../../../network/driver.ts";
import type { Db } from "../../../../platform/db/database.ts";
import type { Semaphore } from "../../../../platform/limits/semaphore.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { SecretBox } from "../../../../platform/secrets/secret-box.ts";
import type { Conversations, NumberResolver } from "../../../contacts/contacts.ts";
import type { OutcomeRecorder } from "../record-outcome.ts";
import type { ClaimedSend, SendRow, SendSubmission, SendSubmissionResult } from "../submit-sends.ts";
import type { SendCircuitBreakers } from "./send-circuit-breakers.ts";
import type { RetryOptions } from "./send-retries.ts";
import type { SendSlot, SendThrottle } from "./send-throttle.ts";

export interface SendRunnerOptions extends RetryOptions {
  db: Db;
  engine: Engine;
  box: SecretBox;
  log: Log;
  outcomes: OutcomeRecorder;
  conversations: Conversations;
  numbers: NumberResolver;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  ackTimeoutMs: number;
  /** How long a submitted send may be retried. */
  sendHoldMs: number;
  /** Returns an unsubmitted message to its campaign, which decides about it. Unset: there are no campaigns. */
  withdraw?: ((id: number) => Promise<void>) | undefined;
}

/** Shared by all sends of this process. */
export interface SendRunnerDeps extends SendRunnerOptions {
  throttle: SendThrottle;
  breakers: SendCircuitBreakers;
  /** Loads sends; the same statement marks those that need not wait as submitted. */
  loadAndSubmit: Pick<BatchWriter<ClaimedSend, SendRow | undefined>, "write">;
  submitter: Pick<BatchWriter<SendSubmission, SendSubmissionResult>, "write">;
  /** The memory budget for outgoing files. */
  files: Semaphore;
}

/** One send during its job. */
export interface SendContext {
  deps: SendRunnerDeps;
  job: Job;
  send: SendRow;
  /** The right to send under the instance's throttle. */
  slot: SendSlot;
  /** Undefined while the instance is not connected on this node. */
  session: Session | undefined;
}
