import type { Jid } from "../../network/driver.ts";
import type { ParticipantResult } from "../../network/groups.ts";
import { phoneOfJid } from "../../network/jid.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { type FindCountry, type NumberResolver, readAddress } from "../contacts/contacts.ts";
import type { PairedGroupInstance } from "./group-reader.ts";

export interface ParticipantDeps {
  numbers: NumberResolver;
  findCountry: FindCountry;
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

/** Each person once, by the address that the network uses. */
export async function resolveParticipants(
  { numbers, findCountry }: ParticipantDeps,
  owner: PairedGroupInstance,
  addresses: readonly string[],
): Promise<Jid[]> {
  const country = await findCountry({ instance_id: owner.id }, addresses);
  const participantJids = addresses.map((text, nth) => {
    const { jid, type } = readAddress(`participants.${nth}`, text, country);
    if (type === "group")
      throw invalidField(`participants.${nth}`, "must be a person, not a group", "not_a_person");
    return jid;
  });
  return [...new Set(await numbers.resolveAll(owner, participantJids))];
}

/** A person who has become a member. */
export function toMember(jid: Jid) {
  return { jid, lid: null, phone: phoneOfJid(jid), admin: null };
}

export function toParticipantResultView(
  { jid, status }: ParticipantResult,
  reasons: Record<number, string> = REASONS,
) {
  const success = status === DONE;
  return { jid, status, success, error: success ? null : (reasons[status] ?? "was refused by the network") };
}
