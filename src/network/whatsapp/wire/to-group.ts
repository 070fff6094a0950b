import type { GroupMetadata } from "baileys";
import { groupJid } from "../../jid.ts";
import type { Group, GroupParticipant } from "../../session-operations.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid } from "../stanzas/plain-jid.ts";

interface Member {
  id: string;
  phoneNumber?: string;
  lid?: string;
  admin?: string | null;
}

/** Converts a group to the gateway's format. */
export async function toGroup(metadata: GroupMetadata, identities: IdentityStore): Promise<Group> {
  const { id, subject, desc, owner, ownerPn, announce, restrict, creation } = metadata;
  return {
    jid: plainJid(id) ?? groupJid(id),
    subject,
    description: desc || null,
    owner: owner ? ((await identities.identify(owner, ownerPn))?.jid ?? null) : null,
    announce: announce === true,
    locked: restrict === true,
    created_at: creation ? new Date(creation * 1000) : null,
    participants: await toParticipants(metadata.participants, identities),
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
