import type { ParticipantAction } from "../../network/session-operations.ts";

interface Member {
  jid: string;
  lid: string | null;
  phone: string | null;
  admin: "admin" | "superadmin" | null;
}

/** The members of a group after a change; an unreported address stays as it was. */
export function applyMemberChange(
  members: readonly Member[],
  { action, who }: { action: ParticipantAction; who: readonly Member[] },
): Member[] {
  const isMeant = (member: Member) => who.some((one) => isSame(one, member));
  if (action === "remove") return members.filter((member) => !isMeant(member));
  if (action === "add") {
    const added = who.map((one) => {
      const before = members.find((member) => isSame(one, member));
      return { ...one, lid: one.lid ?? before?.lid ?? null, phone: one.phone ?? before?.phone ?? null };
    });
    return [...members.filter((member) => !isMeant(member)), ...added];
  }
  const roleOf = ({ admin }: Member) => (action === "promote" ? (admin ?? "admin") : null);
  return members.map((member) => (isMeant(member) ? { ...member, admin: roleOf(member) } : member));
}

function isSame(one: Member, other: Member): boolean {
  const addresses = [other.jid, other.lid];
  return addresses.includes(one.jid) || (one.lid !== null && addresses.includes(one.lid));
}
