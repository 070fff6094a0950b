import { type AuditActor, type AuditEntry, fieldNamesOf } from "../audit/audit.ts";
import type { InstanceRow } from "./instance-row.ts";

/** The audit entry of a change to an instance. */
export function instanceAuditEntry(
  by: AuditActor,
  action: `instance.${string}`,
  { id, account_id }: Pick<InstanceRow, "id" | "account_id">,
  input: Readonly<Record<string, unknown>> = {},
): AuditEntry {
  return { by, action, target: { type: "instance", id }, account_id, fields: fieldNamesOf(input, "id") };
}
