import type { Jid } from "../../driver.ts";
import { phoneJid } from "../../jid.ts";
import type { ContactInfo, ContactOperations, NumberCheck } from "../../session-operations.ts";
import { type RunOperation, rejected, succeeded } from "../connection/network-action.ts";
import { identityOf, isOnNetwork, lidOf, phoneOf } from "../sandbox-numbers.ts";
import {
  contactEntry,
  findContacts,
  findProfile,
  findProfiles,
  type SandboxProfile,
  saveContact,
} from "../world/person-store.ts";

/** The URL of a picture that the network stores. */
export type PictureUrl = (picture: string | null) => string | null;

export function contactOperations(run: RunOperation, pictureUrl: PictureUrl): ContactOperations {
  return {
    check: (numbers) =>
      run({ action: "check" }, async (acting) => {
        const profiles = await findProfiles(acting, numbers);
        return succeeded(numbers.map((number) => toCheck(number, profiles.get(number))));
      }),

    info: (jid) =>
      run({ action: "info", chat: jid }, async (acting) => {
        const phone = personOnNetwork(jid);
        if (phone === null) return noRecipient();
        return succeeded(toInfo(await findProfile(acting, phone), pictureUrl));
      }),

    save: (jid, { first_name, last_name }) =>
      run({ action: "save_contact", chat: jid }, async (acting) => {
        const phone = personOnNetwork(jid);
        if (phone === null) return noRecipient();
        const { actor, deliver, device } = acting;
        const name = last_name ? `${first_name} ${last_name}` : first_name;
        const contact = await saveContact(acting, actor.phone, phone, { name });
        const profile = await findProfile(acting, phone);
        const entry = contactEntry(contact, profile);
        await deliver([actor.phone], phoneJid(phone), entry, device === undefined ? {} : { except: device });
        return succeeded(identityOf({ phone, push_name: profile.name }));
      }),

    setBlocked: (jid, is_blocked) =>
      run({ action: is_blocked ? "block" : "unblock", chat: jid }, async (acting) => {
        const phone = personOnNetwork(jid);
        if (phone === null) return noRecipient();
        await saveContact(acting, acting.actor.phone, phone, { is_blocked });
        return succeeded(null);
      }),

    blocked: () =>
      run({ action: "blocked" }, async (acting) => {
        const contacts = await findContacts(acting, acting.actor.phone);
        return succeeded(contacts.filter((one) => one.is_blocked).map((one) => phoneJid(one.phone)));
      }),

    synchronise: () =>
      run({ action: "synchronise" }, async (acting) => {
        const { actor, deliver } = acting;
        const contacts = await findContacts(acting, actor.phone);
        const profiles = await findProfiles(
          acting,
          contacts.map((one) => one.phone),
        );
        for (const contact of contacts) {
          const { phone } = contact;
          const profile = profiles.get(phone) ?? (await findProfile(acting, phone));
          await deliver([actor.phone], phoneJid(phone), contactEntry(contact, profile));
        }
        return succeeded(null);
      }),
  };
}

function personOnNetwork(jid: Jid): string | null {
  const phone = phoneOf(jid);
  return phone !== null && isOnNetwork(phone) ? phone : null;
}

function noRecipient() {
  return rejected("RECIPIENT_NOT_FOUND", "The number is not on the network.");
}

function toCheck(number: string, profile: SandboxProfile | undefined): NumberCheck {
  if (!isOnNetwork(number)) return { number, jid: null, lid: null, verified_name: null };
  const verified_name = profile?.verified_name ?? null;
  return { number, jid: phoneJid(number), lid: lidOf(number), verified_name };
}

function toInfo(profile: SandboxProfile, pictureUrl: PictureUrl): ContactInfo {
  const { phone, name, about, verified_name, business } = profile;
  return {
    ...identityOf({ phone, push_name: name }),
    verified_name,
    is_business: business !== null,
    business,
    about,
    picture_url: pictureUrl(profile.picture),
  };
}
