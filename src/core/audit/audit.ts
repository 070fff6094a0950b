import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { Caller } from "../../platform/http/handler.ts";

/** Who asked for a change, and from where. */
export interface AuditActor {
  /** `system`: the gateway itself, or its command line. */
  caller: Caller | { kind: "system" };
  ip?: string;
  request_id?: string;
}

/** One auditable action: names and ids only, never a value. */
export interface AuditEntry {
  by: AuditActor;
  /** `<object>.<action>`, such as `instance.logout`. */
  action: `${string}.${string}`;
  target: { type: string; id?: number | string };
  /** The account concerned; null: the operator. */
  account_id: number | null;
  /** Names of the fields that were changed. */
  fields?: readonly string[];
}

/** Writes the entry in the transaction of the action, so that neither exists without the other. */
export async function recordAudit(trx: Trx | Db, entry: AuditEntry): Promise<void> {
  const { by, action, target, account_id, fields = [] } = entry;
  const { actor, actor_id, credential_id } = toActor(by.caller);
  await sql`
    with entry as (
      insert into audit (account_id, actor, actor_id, credential_id, action, target_type, target_id, fields, ip, request_id)
      values (${account_id}, ${actor}, ${actor_id}, ${credential_id}, ${action}, ${target.type},
        ${target.id === undefined ? null : String(target.id)}, ${[...fields]}::text[], ${by.ip ?? null},
        ${by.request_id ?? null})
      returning id
    )
    insert into audit_pending (audit_id) select id from entry`.execute(trx);
}

/** The names of the fields that a request gives, for `fields`; `except` are those that only say which row. */
export function fieldNamesOf(input: Readonly<Record<string, unknown>>, ...except: string[]): string[] {
  return Object.keys(input).filter((name) => input[name] !== undefined && !except.includes(name));
}

function toActor(caller: AuditActor["caller"]) {
  const actor = caller.kind;
  if (caller.kind === "user") return { actor, actor_id: caller.user_id, credential_id: caller.sign_in };
  // What an assistant does, it does for its user.
  if (caller.kind === "assistant")
    return { actor: "user", actor_id: caller.user_id, credential_id: `assistant ${caller.grant_id}` };
  if (caller.kind === "key")
    return { actor, actor_id: caller.instance_id, credential_id: String(caller.key_id) };
  return { actor, actor_id: null, credential_id: null };
}
