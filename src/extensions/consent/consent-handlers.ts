import { sql } from "kysely";
import { getUser, requireUser } from "../../core/accounts/accounts.ts";
import { recordAudit } from "../../core/audit/audit.ts";
import {
  type FindCountry,
  findLidMappings,
  isAmongReached,
  isReachedPerson,
  reachesPerson,
  readPhone,
  refusalOfLid,
} from "../../core/contacts/contacts.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { Reach } from "../../platform/reach.ts";
import type { consentContract } from "./contract.ts";

export interface ConsentDeps {
  db: Db;
  findCountry: FindCountry;
}

type ConsentInput = InputOf<typeof consentContract.recordConsent>;

/** Who has agreed to what, and when. */
export function consentHandlers(deps: ConsentDeps): Handlers<typeof consentContract> {
  const { db } = deps;
  return {
    async recordConsent({ input, ...by }) {
      const user = requireUser(by.caller);
      const { account_id } = user;
      const id = await db.transaction().execute(async (trx) => {
        const subject = await findSubject(trx, deps, user, input);
        if (!(await reachesPerson(trx, user, subject))) throw outOfReach();
        const { purpose, consent_type, granted } = input;
        const { text_version = null, text_hash = null, channel = null } = input;
        const row = { account_id, ...subject, purpose, consent_type, granted };
        const added = await trx
          .insertInto("consent")
          .values({ ...row, text_version, text_hash, channel, ip: by.ip })
          .returning("id")
          .executeTakeFirstOrThrow();
        const action = granted ? "consent.grant" : "consent.revoke";
        const target = { type: "consent", id: added.id };
        await recordAudit(trx, { by, action, target, account_id, fields: ["granted"] });
        return added.id;
      });
      const [record] = await selectRecords(db, user).where("c.id", "=", id).execute();
      if (!record) throw new Error("the recorded consent was not found");
      return record;
    },

    async listConsent({ input: { userId, phone, limit, cursor, q }, caller }) {
      const user = requireUser(caller);
      const { account_id } = user;
      if (userId !== "me") await getUser(db, account_id, userId);
      const before = readCursor(cursor);
      let query = selectRecords(db, user).where(containsText(q, sql`c.phone, c.purpose, c.channel`));
      if (userId !== "me") query = query.where("c.user_id", "=", userId);
      if (phone !== undefined) {
        const country = await deps.findCountry({ account_id }, [phone]);
        const digits = readPhone("phone", phone, country);
        query = query.where("c.phone", "=", await readPersonsPhone(db, account_id, digits));
      }
      if (before !== undefined) query = query.where("c.id", "<", before);
      const found = await query
        .orderBy("c.id", "desc")
        .limit(limit + 1)
        .execute();
      const { rows, pagination } = toPage(found, limit, ({ consentId }) => consentId);
      return new OkResponse(rows, { beside: { pagination } });
    },
  };
}

function selectRecords(db: Db, reach: Reach) {
  return db
    .selectFrom("consent as c")
    .select(["c.id as consentId", "c.user_id as userId", "c.lead_id", "c.phone", "c.purpose"])
    .select(["c.consent_type", "c.granted", "c.text_version", "c.text_hash", "c.channel", "c.created_at"])
    .select(
      sql<boolean>`not exists (select from consent later where later.account_id = c.account_id
        and later.purpose = c.purpose and later.subject = c.subject and later.id > c.id)`.as("current"),
    )
    .where("c.account_id", "=", reach.account_id)
    .where(isAmongReached(reach, { phone: sql.ref("c.phone") }));
}

interface Subject {
  user_id: number | null;
  lead_id: number | null;
  phone: string | null;
}

async function findSubject(
  trx: Trx,
  { findCountry }: ConsentDeps,
  reach: Reach,
  { userId, lead_id, phone }: ConsentInput,
): Promise<Subject> {
  const { account_id } = reach;
  const named = [userId, lead_id, phone].filter((one) => one !== undefined).length;
  if (named > 1)
    throw invalidField("userId", "must be the only one of userId, lead_id and phone", "only_one_of", {
      fields: "userId, lead_id, phone",
    });
  if (userId !== undefined) await getUser(trx, account_id, userId);
  const country = await findCountry({ account_id }, [phone]);
  return {
    user_id: userId ?? null,
    lead_id: lead_id ?? null,
    phone:
      lead_id !== undefined
        ? await phoneOfLead(trx, reach, lead_id)
        : phone === undefined
          ? null
          : await readPersonsPhone(trx, account_id, readPhone("phone", phone, country)),
  };
}

/** A caller that reaches only some instances records what their contacts have agreed to. */
function outOfReach(): GatewayError {
  const sentence = "There is no such contact in your instances. Send the phone or the lead_id of one.";
  return new GatewayError("NOT_FOUND", sentence);
}

/** Digits of a LID whose phone is known are that phone. Throws VALIDATION_ERROR for those that nobody has. */
async function readPersonsPhone(trx: Db | Trx, accountId: number, digits: string): Promise<string> {
  const mappings = await findLidMappings(trx, accountId, [digits]);
  const refusal = refusalOfLid(digits, mappings);
  if (refusal) throw refusal;
  return mappings.get(digits)?.phone ?? digits;
}

async function phoneOfLead(trx: Trx, reach: Reach, leadId: number): Promise<string | null> {
  const lead = await trx
    .selectFrom("lead")
    .select("phone")
    .where("id", "=", leadId)
    .where("account_id", "=", reach.account_id)
    .where(isReachedPerson(reach, { phone: sql.ref("lead.phone"), lid: sql.ref("lead.lid") }))
    .executeTakeFirstOrThrow(() => new GatewayError("NOT_FOUND", "There is no such lead."));
  return lead.phone;
}
