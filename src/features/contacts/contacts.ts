import type { Jid } from "../../network/driver.ts";
import { phoneOfJid } from "../../network/ids.ts";
import type { Db } from "../../platform/db.ts";
import { GatewayError, invalidField } from "../../platform/errors.ts";
import { type Handlers, Reply } from "../../platform/handler.ts";
import type { CallSession } from "../calls/calls.ts";
import { type CheckDeps, checkNumbers } from "./check-numbers.ts";
import { keepBlocked, keepBlocklist, readContactInfo } from "./contact-info.ts";
import type { contactsContract } from "./contract.ts";
import { listContacts } from "./list-contacts.ts";
import { personOf } from "./number-candidates.ts";
import type { NumberOwner } from "./numbers.ts";
import { resolveTarget, type Target } from "./target.ts";

export { type Chat, type Conversations, createConversations } from "./conversations.ts";
export { addressesOf, findConversation } from "./find-conversation.ts";
export { otherSpelling, personOf, searchedNumbers, spellingsOf } from "./number-candidates.ts";
export { createNumbers, type Numbers } from "./numbers.ts";
export { findPeopleOfLids } from "./people-of-lids.ts";
export type { Conversation } from "./save-chats.ts";
export { isNoPhone, type Recipient, readAddress, readPhone, resolveTarget, type Target } from "./target.ts";

export type ContactDeps = CheckDeps;

export function contactHandlers(deps: ContactDeps): Handlers<typeof contactsContract> {
  const { db, callSession } = deps;
  return {
    async listContacts({ input }) {
      if (input.synchronise) await synchronise(db, callSession, input.id);
      const { rows, pagination } = await listContacts(db, input);
      return new Reply(rows, { beside: { pagination } });
    },

    async checkContacts({ input: { id, ...input } }) {
      const rows = await checkNumbers(deps, await getOwner(db, id), input);
      return new Reply(rows, { beside: input.numbers ? {} : { exists: rows[0]?.exists ?? false } });
    },

    async contactInfo({ input: { id, ...target } }) {
      const owner = await getOwner(db, id);
      return readContactInfo(deps, owner, await findPerson(deps, owner, target));
    },

    async blockContact({ input: { id, action, block, ...target } }) {
      const owner = await getOwner(db, id);
      const wanted = action ?? (block === undefined ? undefined : block ? "block" : "unblock");
      if (!wanted) throw invalidField("action", "is required: block or unblock");
      const isBlocked = wanted === "block";
      const jid = await findPerson(deps, owner, target);
      await requireSomebodyElse(db, id, jid);
      await callSession(id, (session) => session.contacts?.setBlocked(jid, isBlocked));
      return { ...(await keepBlocked(deps, owner, jid, isBlocked)), action: wanted };
    },
  };
}

/** What the phone tells of its address book arrives as events of the session. */
async function synchronise(db: Db, callSession: CallSession, id: number): Promise<void> {
  await callSession(id, (session) => session.contacts?.synchronise());
  await keepBlocklist(db, id, await callSession(id, (session) => session.contacts?.blocked()));
}

/** The address under which somebody is known. */
async function findPerson(deps: ContactDeps, owner: NumberOwner, target: Target): Promise<Jid> {
  const { jid, type } = resolveTarget(target, deps.defaultCountry);
  if (type === "group") throw invalidField("jid", "must be of a person");
  return deps.numbers.settle(owner, await deps.conversations.addressOf(owner.id, jid));
}

/** The network says yes to a block of one's own number, and does nothing. */
async function requireSomebodyElse(db: Db, id: number, jid: Jid): Promise<void> {
  const me = await db
    .selectFrom("instance")
    .select(["phone", "lid"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const phone = phoneOfJid(jid);
  const isOwn = phone !== null && me.phone !== null && personOf(phone) === personOf(me.phone);
  if (isOwn || jid === me.lid) throw invalidField("number", "is the number of this instance itself");
}

async function getOwner(db: Db, id: number): Promise<NumberOwner> {
  return db
    .selectFrom("instance")
    .select(["id", "account_id"])
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow(() => new GatewayError("NOT_FOUND", "There is no such instance."));
}
