import type { Job, JobEnd } from "../../../engine/engine.ts";
import type { CallNote, Health } from "../health.ts";
import type { Integration } from "../integration-row.ts";
import type { IntegrationDeps } from "../provider.ts";
import { retryCall } from "../retry-call.ts";
import { accessOf, type Chatwoot, callChatwoot } from "./api.ts";
import type { Refusal } from "./refusal.ts";

/** What the work of one job needs. */
export interface Desk {
  deps: IntegrationDeps;
  health: Health;
  integration: Integration;
  chatwoot: Chatwoot;
  /** What the call of this job that failed last says of the connection. */
  lastFailure(): CallNote | undefined;
}

/** Only their owner can set these right, and until then nothing is lost. */
const UNTIL_SAVED = new Set<Refusal["reason"]>([
  ...(["token", "role", "suspended", "forbidden", "blocked", "inbox_gone"] as const),
]);
const UNTIL_SAVED_MS = 300_000;
const LONGEST_WAIT_MS = 3 * 24 * 3_600_000;

export function openDesk(deps: IntegrationDeps, health: Health, integration: Integration): Desk {
  let failure: CallNote | undefined;
  const note: Parameters<typeof callChatwoot>[0]["note"] = async (outcome, beganAt, refusal) => {
    // A no that belongs to the work, such as a conversation that is gone, says nothing about the connection.
    const isPart = refusal?.verdict.verdict === "stop" && !UNTIL_SAVED.has(refusal.reason);
    if (isPart) return;
    const { reason, verdict, words } = refusal ?? {};
    const said = verdict && {
      ...{ status: verdict.status, error: words },
      // Its status alone says that all is well.
      ...(reason === "unreadable" && { verdict }),
    };
    const noted = await health.note(integration, outcome, beganAt, said);
    if (refusal) failure = noted;
  };
  const { instance_id } = integration;
  const chatwoot = callChatwoot({ outgoing: deps.outgoing, instance_id, note }, accessOf(integration));
  return { deps, health, integration, chatwoot, lastFailure: () => failure };
}

/** Whether it is worth to try again what was refused. */
export function isPassing({ reason, verdict }: Refusal): boolean {
  return verdict.verdict === "retry" || UNTIL_SAVED.has(reason);
}

/** The same of a change to what is there: a proxy that lets no PATCH or DELETE through holds up no chat. */
export function isPassingForChange(refusal: Refusal): boolean {
  return refusal.reason !== "forbidden" && isPassing(refusal);
}

/** How a job ends that Chatwoot has refused: tried again for three days, or given up with a word to the owner. */
export async function endRefused(desk: Desk, job: Job, refusal: Refusal, since: Date): Promise<JobEnd> {
  const { reason, verdict, words } = refusal;
  if (!isPassing(refusal) || Date.now() - since.getTime() > LONGEST_WAIT_MS) {
    await desk.health.warn(desk.integration, words);
    return { end: "done" };
  }
  if (reason === "identity") await desk.health.warn(desk.integration, words, "failing");
  const failure = desk.lastFailure();
  if (!failure || (verdict.verdict === "stop" && !failure.isStale))
    return { end: "retry", at: new Date(Date.now() + UNTIL_SAVED_MS) };
  return retryCall(desk.deps, job, { ...failure, verdict });
}
