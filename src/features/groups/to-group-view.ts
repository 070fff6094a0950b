import type { ParticipantResult } from "../../network/session-operations.ts";
import type { GroupRow } from "./save-groups.ts";

/** A group as responses show it. */
export function toGroupView(row: GroupRow, { withParticipants = true } = {}) {
  const { jid, subject, description, owner, announce, locked, participants } = row;
  return {
    jid,
    name: subject,
    subject,
    description,
    owner,
    size: participants.length,
    announce,
    locked,
    created_at: row.group_created_at,
    participants: withParticipants ? participants : [],
    refreshed_at: row.read_at,
  };
}

const REASONS: Record<number, string> = {
  401: "has blocked this number",
  403: "does not allow others to add them: send the invitation link",
  404: "is not on the network or not in the group",
  405: "is the group's creator",
  408: "has left the group a short while ago",
  409: "is in the group already",
  419: "the group is full",
};

const DONE = 200;

export function toParticipantResultView({ jid, status }: ParticipantResult) {
  const success = status === DONE;
  return { jid, status, success, error: success ? null : (REASONS[status] ?? "was refused by the network") };
}
