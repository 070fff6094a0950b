import type { Identity, Jid } from "./identity.ts";

export interface GroupParticipant {
  jid: Jid;
  lid: Jid | null;
  phone: string | null;
  admin: "admin" | "superadmin" | null;
}

export interface Group {
  jid: Jid;
  subject: string;
  description: string | null;
  owner: Jid | null;
  /** Only admins can send messages. */
  announce: boolean;
  /** Only admins can change the settings. */
  locked: boolean;
  /** An admin must approve everybody who joins by the invitation link. */
  join_approval: boolean;
  /** All members can add people; otherwise only admins. */
  members_can_add: boolean;
  created_at: Date | null;
  participants: GroupParticipant[];
}

/** What an invitation shows of a group before one joins. */
export interface GroupPreview
  extends Pick<Group, "jid" | "subject" | "description" | "owner" | "join_approval" | "created_at"> {
  size: number;
}

/** A person who waits for the approval of an admin. */
export interface JoinRequest {
  who: Identity;
  /** The network's word for how the person asked, such as `invite_link` or `non_admin_add`. */
  method: string | null;
  requested_at: Date | null;
}

export type JoinRequestAction = "approve" | "reject";

export type ParticipantAction = "add" | "remove" | "promote" | "demote";

/** The change of a group, if the network reports it; empty means that the group must be fetched again. */
export interface GroupUpdate {
  subject?: string;
  description?: string | null;
  announce?: boolean;
  locked?: boolean;
  join_approval?: boolean;
  members_can_add?: boolean;
  participants?: { action: ParticipantAction; who: GroupParticipant[] };
  /** The whole group as it is now. */
  group?: Group;
  /** The instance is no longer a member. */
  left?: boolean;
  by?: Identity;
}

/**
 * One person's status code from the network (200 done, 403 refuses invitations, 404 unknown, 409 already a
 * member).
 */
export interface ParticipantResult {
  jid: Jid;
  status: number;
}

/** One change at a time, so that each has its own result. */
export type GroupChange =
  | { subject: string }
  | { description: string }
  | { image: Uint8Array | null }
  | { announce: boolean }
  | { locked: boolean }
  | { join_approval: boolean }
  | { members_can_add: boolean };
