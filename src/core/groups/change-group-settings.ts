import type { Jid } from "../../network/driver.ts";
import type { GroupChange } from "../../network/groups.ts";
import type { Db } from "../../platform/db/database.ts";
import type { ErrorCode } from "../../platform/error-codes.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import { applyGroupUpdate, type GroupInstance } from "./save-groups.ts";

export interface GroupSettingsResult {
  applied: string[];
  errors: { setting: string; code: string; message: string }[];
}

/** After these errors no result of later changes can be known, so they are not attempted. */
const HOPELESS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "INSTANCE_NOT_CONNECTED",
  "NOT_SUPPORTED",
  "RATE_LIMITED",
  "SEND_TIMEOUT",
  "UNAVAILABLE",
]);

/** Changes the settings sequentially, and returns the result of each. */
export async function changeGroupSettings(
  { db, runOperation }: { db: Db; runOperation: RunSessionOperation },
  owner: GroupInstance,
  jid: Jid,
  changes: readonly GroupChange[],
): Promise<GroupSettingsResult & { refusals: GatewayError[] }> {
  const result = { applied: [] as string[], errors: [] as GroupSettingsResult["errors"] };
  const refusals: GatewayError[] = [];
  for (const change of changes) {
    const setting = nameOf(change);
    const last = refusals.at(-1);
    const refusal =
      last && HOPELESS.has(last.code) ? last : await changeOne({ db, runOperation }, owner, jid, change);
    if (refusal) {
      refusals.push(refusal);
      result.errors.push({ setting, code: refusal.code, message: refusal.message });
    } else {
      result.applied.push(setting);
    }
  }
  return { ...result, refusals };
}

async function changeOne(
  { db, runOperation }: { db: Db; runOperation: RunSessionOperation },
  owner: GroupInstance,
  jid: Jid,
  change: GroupChange,
): Promise<GatewayError | undefined> {
  try {
    await runOperation(owner.id, (session) => session.groups.update(jid, change));
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  if ("image" in change) return undefined;
  const update = "description" in change ? { description: change.description || null } : change;
  await db.transaction().execute((trx) => applyGroupUpdate(trx, owner, jid, update));
  return undefined;
}

/** The name in requests. */
function nameOf(change: GroupChange): string {
  const [field = ""] = Object.keys(change);
  return field === "subject" ? "name" : field;
}
