import type { Jid } from "../../driver.ts";
import type { Group, GroupParticipant, GroupUpdate, ParticipantAction } from "../../groups.ts";
import { phoneJid } from "../../jid.ts";
import { identityOf, lidOf, type SandboxPerson } from "../sandbox-numbers.ts";

export interface SandboxGroupMember {
  phone: string;
  admin: GroupParticipant["admin"];
}

/** A group as the network stores it. */
export interface StoredGroup {
  jid: Jid;
  subject: string;
  description: string | null;
  /** Phone of the creator. */
  owner: string | null;
  announce: boolean;
  locked: boolean;
  join_approval: boolean;
  members_can_add: boolean;
  created_at: string;
  members: SandboxGroupMember[];
}

/** The change that an inbox entry reports. */
export interface GroupEvent {
  subject?: string;
  description?: string | null;
  announce?: boolean;
  locked?: boolean;
  join_approval?: boolean;
  members_can_add?: boolean;
  participants?: { action: ParticipantAction; who: SandboxGroupMember[] };
  group?: StoredGroup;
  left?: boolean;
  by: SandboxPerson;
}

export function toGroup({ members, owner, created_at, ...group }: StoredGroup): Group {
  return {
    ...group,
    owner: owner === null ? null : phoneJid(owner),
    created_at: new Date(created_at),
    participants: members.map(toParticipant),
  };
}

export function toGroupUpdate({ participants, group, by, ...fields }: GroupEvent): GroupUpdate {
  return {
    ...fields,
    ...(participants && {
      participants: { action: participants.action, who: participants.who.map(toParticipant) },
    }),
    ...(group && { group: toGroup(group) }),
    by: identityOf(by),
  };
}

function toParticipant({ phone, admin }: SandboxGroupMember): GroupParticipant {
  return { jid: phoneJid(phone), lid: lidOf(phone), phone, admin };
}
