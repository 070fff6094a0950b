import type { Product } from "../../business.ts";
import type { ContactInfo } from "../../session-operations.ts";
import type { InboxEntry } from "../inbox/inbox-entry.ts";
import type { SandboxNetwork } from "../sandbox-network.ts";
import { ownerOf, type SandboxPerson } from "../sandbox-numbers.ts";

/** The profile that a person shows to others. */
export interface SandboxProfile {
  phone: string;
  name: string | null;
  about: string | null;
  /** The id of a picture in the network, or an external URL. */
  picture: string | null;
  verified_name: string | null;
  business: ContactInfo["business"];
  /** Null: there is none. */
  catalog: Product[] | null;
  /** The settings that the person has changed. */
  privacy: Record<string, string>;
}

/** Returns the stored profiles of these people; a person without one is on the network too. */
export async function findProfiles(
  { client, account_id }: SandboxNetwork,
  phones: readonly string[],
): Promise<Map<string, SandboxProfile>> {
  const { rows } = await client.query<SandboxProfile>(
    `select phone, name, about, picture, verified_name, business, catalog, privacy from sandbox.person
     where account_id = $1 and phone = any ($2)`,
    [account_id, phones],
  );
  return new Map(rows.map((row) => [row.phone, row]));
}

export async function findProfile(network: SandboxNetwork, phone: string): Promise<SandboxProfile> {
  const found = (await findProfiles(network, [phone])).get(phone);
  const empty = {
    name: null,
    about: null,
    picture: null,
    verified_name: null,
    business: null,
    catalog: null,
    privacy: {},
  };
  return found ?? { phone, ...empty };
}

export async function saveProfile(
  network: SandboxNetwork,
  phone: string,
  change: Partial<Omit<SandboxProfile, "phone">>,
): Promise<SandboxProfile> {
  const profile = { ...(await findProfile(network, phone)), ...change };
  const { name, about, picture, verified_name, business, privacy } = profile;
  const catalog = profile.catalog && JSON.stringify(profile.catalog);
  await network.client.query(
    `insert into sandbox.person (account_id, phone, name, about, picture, verified_name, business, privacy, catalog)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (account_id, phone) do update set name = excluded.name, about = excluded.about, picture = excluded.picture,
       verified_name = excluded.verified_name, business = excluded.business,
       privacy = excluded.privacy, catalog = excluded.catalog`,
    [network.account_id, phone, name, about, picture, verified_name, business, privacy, catalog],
  );
  return profile;
}

/** The owner of a paired phone, with the name of the profile. */
export async function findPhoneOwner(network: SandboxNetwork, phone: string): Promise<SandboxPerson> {
  const { name } = await findProfile(network, phone);
  return name === null ? ownerOf(phone) : { phone, push_name: name };
}

/** A person as a phone stores them: address book name, blocked or not, and known addresses. */
export interface SandboxContact {
  phone: string;
  name: string | null;
  known: "both" | "phone" | "lid";
  is_blocked: boolean;
}

export async function findContacts(
  { client, account_id }: SandboxNetwork,
  owner: string,
  phones?: readonly string[],
): Promise<SandboxContact[]> {
  const { rows } = await client.query<SandboxContact>(
    `select phone, name, known, is_blocked from sandbox.address_book
     where account_id = $1 and owner = $2 and ($3::text[] is null or phone = any ($3)) order by phone`,
    [account_id, owner, phones ?? null],
  );
  return rows;
}

export async function saveContact(
  network: SandboxNetwork,
  owner: string,
  phone: string,
  change: Partial<Omit<SandboxContact, "phone">>,
): Promise<SandboxContact> {
  const [found] = await findContacts(network, owner, [phone]);
  const contact = { phone, name: null, known: "both" as const, is_blocked: false, ...found, ...change };
  await network.client.query(
    `insert into sandbox.address_book (account_id, owner, phone, name, known, is_blocked)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (account_id, owner, phone) do update
     set name = excluded.name, known = excluded.known, is_blocked = excluded.is_blocked`,
    [network.account_id, owner, phone, contact.name, contact.known, contact.is_blocked],
  );
  return contact;
}

/** A person as the network reports them to a phone. */
export function asSeenByPhone(
  { phone, known }: Pick<SandboxContact, "phone" | "known">,
  push_name: string | null,
): SandboxPerson {
  return { phone, push_name, ...(known !== "both" && { known }) };
}

export function contactEntry(
  contact: SandboxContact,
  { name: push_name, verified_name }: SandboxProfile,
): Extract<InboxEntry, { kind: "contact" }> {
  const { name } = contact;
  return { kind: "contact", body: { ...asSeenByPhone(contact, push_name), name, verified_name } };
}
