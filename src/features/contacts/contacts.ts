import type { Jid } from "../../network/driver.ts";
import { phoneOfJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { canonicalNumberOf } from "../../platform/phone/number-variants.ts";
import { getInstance, type InstanceRow } from "../instances/instances.ts";
import type { RunSessionOperation } from "../session-operations/session-operations.ts";
import { type CheckNumbersDeps, checkNumbers } from "./check-numbers.ts";
import type { contactsContract } from "./contract.ts";
import { listContacts } from "./list-contacts.ts";
import type { InstanceRef } from "./number-resolver.ts";
import { readContactInfo, saveBlocked, saveBlocklist } from "./read-contact-info.ts";
import { type RecipientInput, resolveForInstance } from "./recipient.ts";

export {
  alternativeNumber,
  canonicalNumberOf,
  numberVariantsOf,
  searchedNumbers,
} from "../../platform/phone/number-variants.ts";
export {
  addressesOf,
  type Conversations,
  createConversations,
  findConversation,
} from "./conversations.ts";
export { createCountryFinder, type FindCountry } from "./find-country.ts";
export { findLidMappings } from "./find-lid-mappings.ts";
export { isReachedPerson, reachesPerson } from "./is-reached-person.ts";
export { createNumberResolver, type NumberResolver } from "./number-resolver.ts";
export {
  type ListedNumberOptions,
  type NumberWarning,
  readListedNumber,
} from "./read-listed-number.ts";
export {
  type Recipient,
  type RecipientInput,
  readAddress,
  readPhone,
  resolveForInstance,
  resolveRecipient,
} from "./recipient.ts";
export type { ConversationRef } from "./save-chats.ts";

export type ContactDeps = CheckNumbersDeps;

export function contactHandlers(deps: ContactDeps): Handlers<typeof contactsContract> {
  const { db, runOperation } = deps;
  return {
    async listContacts({ input }) {
      if (input.synchronise) await synchronise(db, runOperation, input.id);
      const { rows, pagination } = await listContacts(db, input);
      return new OkResponse(rows, { beside: { pagination } });
    },

    async checkContacts({ input: { id, ...input } }) {
      const rows = await checkNumbers(deps, await getInstance(db, id), input);
      return new OkResponse(rows, { beside: input.numbers ? {} : { exists: rows[0]?.exists ?? false } });
    },

    async contactInfo({ input: { id, ...target } }) {
      const owner = await getInstance(db, id);
      return readContactInfo(deps, owner, await findPerson(deps, owner, target));
    },

    async blockContact({ input: { id, action, block, ...target } }) {
      const owner = await getInstance(db, id);
      const operation = action ?? (block === undefined ? undefined : block ? "block" : "unblock");
      if (!operation) throw invalidField("action", "is required: block or unblock");
      const isBlocked = operation === "block";
      const jid = await findPerson(deps, owner, target);
      requireOtherPerson(owner, jid);
      await runOperation(id, (session) => session.contacts.setBlocked(jid, isBlocked));
      return { ...(await saveBlocked(deps, owner, jid, isBlocked)), action: operation };
    },
  };
}

/** The phone's address book arrives as events of the session. */
async function synchronise(db: Db, runOperation: RunSessionOperation, id: number): Promise<void> {
  await runOperation(id, (session) => session.contacts.synchronise());
  await saveBlocklist(db, id, await runOperation(id, (session) => session.contacts.blocked()));
}

/** The stored address of a person. */
async function findPerson(deps: ContactDeps, owner: InstanceRef, target: RecipientInput): Promise<Jid> {
  const { jid, type } = await resolveForInstance(deps.findCountry, owner.id, target);
  if (type === "group") throw invalidField("jid", "must be the number or JID of a person");
  return deps.numbers.resolve(owner, await deps.conversations.addressOf(owner.id, jid));
}

/** The network accepts a block of one's own number, but does nothing. */
function requireOtherPerson(me: InstanceRow, jid: Jid): void {
  const phone = phoneOfJid(jid);
  const isOwn =
    phone !== null && me.phone !== null && canonicalNumberOf(phone) === canonicalNumberOf(me.phone);
  if (isOwn || jid === me.lid) throw invalidField("number", "is the number of this instance itself");
}
