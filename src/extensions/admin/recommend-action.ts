import { describeFinding, FINDINGS, type FindingKey } from "../../platform/findings.ts";
import type { InstanceStatus } from "../../tables.ts";

export interface MonitoredInstance {
  status: InstanceStatus;
  wanted: "stopped" | "connected";
  messages_24h: number;
  failures_24h: number;
  seconds_since_last_inbound: number | null;
}

const FEWEST_TO_JUDGE = 20;

const FINDING_OF = { failures: "sends_failing", silence: "nothing_received" } as const;

interface Advice {
  /** What the advice is about. */
  action_reason: "status" | keyof typeof FINDING_OF | null;
  recommended_action: string | null;
}

const NO_ADVICE: Advice = { action_reason: null, recommended_action: null };

/** Advice for an instance, if it needs any. */
export function recommendAction(state: MonitoredInstance): Advice {
  if (state.status !== "connected") return adviseOnStatus(state);
  const reason = findTroubleOf(state);
  return reason
    ? { action_reason: reason, recommended_action: describeFinding(FINDING_OF[reason]) }
    : NO_ADVICE;
}

/** What is to be done about a status; undefined if it is nothing. */
export function findStatusFinding(status: InstanceStatus): FindingKey | undefined {
  const key = `instance_${status}`;
  return Object.hasOwn(FINDINGS, key) ? (key as FindingKey) : undefined;
}

function adviseOnStatus({ status, wanted }: MonitoredInstance): Advice {
  const isWanted = status !== "disconnected" || wanted === "connected";
  const key = isWanted ? findStatusFinding(status) : undefined;
  return key === undefined
    ? NO_ADVICE
    : { action_reason: "status", recommended_action: describeFinding(key) };
}

function findTroubleOf(state: MonitoredInstance): keyof typeof FINDING_OF | undefined {
  const { messages_24h, failures_24h, seconds_since_last_inbound: silence } = state;
  if (messages_24h < FEWEST_TO_JUDGE) return undefined;
  if (failures_24h >= messages_24h * FINDINGS.sends_failing.limit) return "failures";
  return silence !== null && silence > FINDINGS.nothing_received.limit ? "silence" : undefined;
}
