import type { Config } from "../../platform/config/config.ts";
import { FINDINGS } from "../../platform/findings.ts";
import { findBroadEntries } from "../../platform/outgoing/address-policy.ts";
import type { DoctorFinding } from "./doctor-checks.ts";

type Policy = Pick<Config, "allowedHosts" | "localTargets">;

/** Whether outgoing requests may now go to this machine. */
export function reachesThisMachine({ allowedHosts, localTargets }: Policy, hasOthers: boolean): boolean {
  return allowedHosts.includes("loopback") || (localTargets === "auto" && !hasOthers);
}

/** One line for the operator: where outgoing requests may go. */
export function describeOutgoingPolicy({ allowedHosts, localTargets }: Policy, hasOthers: boolean): string {
  const list = allowedHosts.join(", ");
  if (localTargets !== "auto") return list;
  return hasOthers
    ? `${list}; no longer this machine, since there is a second account (WAYGATE_LOCAL_TARGETS)`
    : `${list}, and this machine while the owner's account is the only one (WAYGATE_LOCAL_TARGETS)`;
}

/** `hasOthers`: whether there is a second account; undefined if the database is unavailable. */
export function checkOutgoingPolicy(config: Config, hasOthers: boolean | undefined): DoctorFinding {
  const { allowedHosts, httpsOnly, egressProxy, allowAlwaysDenied } = config;
  const label = "outgoing requests";
  const lifted =
    allowAlwaysDenied.length > 0 ? `, and ${allowAlwaysDenied.join(", ")} although always denied` : "";
  const how = `${httpsOnly ? ", over https only" : ""}${egressProxy ? ", through a proxy" : ""}`;
  const where = describeOutgoingPolicy(config, hasOthers ?? false);
  const detail = `webhooks, media and integrations may go to: ${where}${lifted}${how}`;
  const open = findBroadEntries(allowedHosts);
  if (!hasOthers || open.length === 0) return { label, grade: "ok", detail };
  const fix = `Every account can reach ${open.join(", ")} on any port. ${FINDINGS.open_outgoing_policy.action}`;
  return { label, grade: "warn", detail, fix };
}
