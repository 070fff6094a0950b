import type { GroupMetadata } from "baileys";
import type { Group, GroupParticipant, GroupPreview } from "../../groups.ts";
import { groupJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid } from "../stanzas/plain-jid.ts";

/** The network's words for who may add people to a group. */
export const MEMBER_ADD = { everybody: "all_member_add", admins: "admin_add" } as const;

interface Member {
  id: string;
  phoneNumber?: string;
  lid?: string;
  admin?: string | null;
}

/** Converts a group to the gateway's format. */
export async function toGroup(metadata: GroupMetadata, identities: IdentityStore): Promise<Group> {
  const { announce, restrict, memberAddMode } = metadata;
  const { size: _, ...shown } = await toGroupPreview(metadata, identities);
  return {
    ...shown,
    announce: announce === true,
    locked: restrict === true,
    members_can_add: memberAddMode === true,
    participants: await toParticipants(metadata.participants, identities),
  };
}

/** What the metadata say of a group to people who are not in it. */
export async function toGroupPreview(
  metadata: GroupMetadata,
  identities: IdentityStore,
): Promise<GroupPreview> {
  const { id, subject, desc, owner, ownerPn, creation, joinApprovalMode, size, participants } = metadata;
  return {
    jid: plainJid(id) ?? groupJid(id),
    subject,
    description: desc || null,
    owner: owner ? ((await identities.identify(owner, ownerPn))?.jid ?? null) : null,
    join_approval: joinApprovalMode === true,
    created_at: creation ? new Date(creation * 1000) : null,
    size: size ?? participants.length,
  };
}

export async function toParticipants(
  members: readonly Member[],
  identities: IdentityStore,
): Promise<GroupParticipant[]> {
  const found = await identities.identifyAll(
    members.map(({ id, phoneNumber, lid }) => ({ address: id, other: phoneNumber ?? lid })),
  );
  return found.flatMap((person, i) => {
    if (!person) return [];
    const admin = members[i]?.admin;
    const { jid, lid, phone } = person;
    return [{ jid, lid, phone, admin: admin === "admin" || admin === "superadmin" ? admin : null }];
  });
}
