import type { Job, JobResult } from "../../../engine/engine.ts";
import type { HealthUpdate } from "../delivery/integration-health.ts";
import { retryRequest } from "../delivery/retry-request.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import { type ChatwootApi, chatwootAccessOf, createChatwootApi } from "./api/chatwoot-api.ts";
import { type ChatwootError, codeOfChatwootError } from "./api/chatwoot-error.ts";

/** The dependencies of one job. */
export interface ChatwootContext {
  deps: IntegrationDeps;
  integration: Integration;
  chatwoot: ChatwootApi;
  /** The connection state after this job's last failed request. */
  lastFailure(): HealthUpdate | undefined;
}

/** Only the owner can fix these; until then nothing is lost. */
const UNTIL_SAVED = new Set<ChatwootError["reason"]>([
  ...(["token", "role", "suspended", "forbidden", "blocked", "inbox_gone"] as const),
]);
const UNTIL_SAVED_MS = 300_000;
const LONGEST_WAIT_MS = 3 * 24 * 3_600_000;

export function createChatwootContext(deps: IntegrationDeps, integration: Integration): ChatwootContext {
  let lastFailed: HealthUpdate | undefined;
  const onResponse: Parameters<typeof createChatwootApi>[0]["onResponse"] = async (
    outcome,
    beganAt,
    refusal,
  ) => {
    // A rejection of the specific request, such as a deleted conversation, says nothing about the connection.
    const isPart = refusal?.failure.final && !UNTIL_SAVED.has(refusal.reason);
    if (isPart) return;
    const reading = refusal && {
      error: refusal.text,
      code: codeOfChatwootError(refusal.reason),
      // Its status alone would mean success.
      ...(refusal.reason === "unreadable" && { failure: refusal.failure }),
    };
    const update = await deps.health.recordResponse(integration, outcome, beganAt, reading);
    if (refusal) lastFailed = update;
  };
  const { instance_id } = integration;
  const chatwoot = createChatwootApi(
    { outgoing: deps.outgoing, instance_id, onResponse },
    chatwootAccessOf(integration),
  );
  return { deps, integration, chatwoot, lastFailure: () => lastFailed };
}

/** Whether a retry of the rejected request can succeed. */
export function isTransientError({ reason, failure }: ChatwootError): boolean {
  return failure.final === undefined || UNTIL_SAVED.has(reason);
}

/** The same for an update: a proxy that rejects PATCH or DELETE does not block a chat. */
export function isTransientForUpdate(refusal: ChatwootError): boolean {
  return refusal.reason !== "forbidden" && isTransientError(refusal);
}

/**
 * The result of a job that Chatwoot has rejected: retried for three days, or abandoned with a warning for the
 * owner.
 */
export async function endWithError(
  context: ChatwootContext,
  job: Job,
  refusal: ChatwootError,
  since: Date,
): Promise<JobResult> {
  const { reason, failure, text } = refusal;
  if (!isTransientError(refusal) || Date.now() - since.getTime() > LONGEST_WAIT_MS) {
    await context.deps.health.warn(context.integration, text, { code: codeOfChatwootError(reason) });
    return { end: "done" };
  }
  if (reason === "identity")
    await context.deps.health.warn(context.integration, text, {
      status: "failing",
      code: codeOfChatwootError(reason),
    });
  const last = context.lastFailure();
  if (!last || (failure.final && !last.isStale))
    return { end: "retry", at: new Date(Date.now() + UNTIL_SAVED_MS) };
  return retryRequest(context.deps, job, { ...last, failure });
}
