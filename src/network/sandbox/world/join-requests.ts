import type { Jid } from "../../driver.ts";
import type { JoinRequest, JoinRequestAction, ParticipantResult } from "../../groups.ts";
import type { OperationResult } from "../../session-operations.ts";
import { type NetworkAction, succeeded } from "../connection/network-action.ts";
import { identityOf, phoneOf } from "../sandbox-numbers.ts";
import { admit } from "./change-group.ts";
import { INVITE_LINK, isRejected, requireMembership } from "./group-store.ts";
import { findProfiles } from "./person-store.ts";

const DONE = 200;
const UNKNOWN = 404;

/** The people who wait for an approval, the first first; for admins only. */
export async function listJoinRequests(
  acting: NetworkAction,
  jid: Jid,
): Promise<OperationResult<JoinRequest[]>> {
  const group = await requireMembership(acting, jid, { asAdmin: true });
  if (isRejected(group)) return group;
  const { rows } = await acting.client.query<{ phone: string; requested_at: Date }>(
    `select phone, requested_at from sandbox.group_request where account_id = $1 and group_jid = $2
     order by requested_at, phone`,
    [acting.account_id, jid],
  );
  const profiles = await findProfiles(
    acting,
    rows.map(({ phone }) => phone),
  );
  return succeeded(
    rows.map(({ phone, requested_at }) => ({
      who: identityOf({ phone, push_name: profiles.get(phone)?.name ?? null }),
      method: INVITE_LINK,
      requested_at,
    })),
  );
}

export async function answerJoinRequests(
  acting: NetworkAction,
  jid: Jid,
  action: JoinRequestAction,
  people: readonly Jid[],
): Promise<OperationResult<ParticipantResult[]>> {
  const group = await requireMembership(acting, jid, { asAdmin: true });
  if (isRejected(group)) return group;
  const { rows } = await acting.client.query<{ phone: string }>(
    `delete from sandbox.group_request where account_id = $1 and group_jid = $2 and phone = any ($3)
     returning phone`,
    [acting.account_id, jid, people.map(phoneOf)],
  );
  const answered = rows.map(({ phone }) => phone);
  if (action === "approve") await admit(acting, group, answered);
  const asked = new Set<string | null>(answered);
  return succeeded(people.map((one) => ({ jid: one, status: asked.has(phoneOf(one)) ? DONE : UNKNOWN })));
}
