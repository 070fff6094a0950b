import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { requireUser, resellerOf } from "../../core/accounts/accounts.ts";
import { type FindCountry, resolveRecipient } from "../../core/contacts/contacts.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import type { privacyContract } from "./contract.ts";
import { exportAccount } from "./export-account.ts";
import { type RequestedErasure, requestErasure } from "./request-erasure.ts";

export interface PrivacyDeps {
  db: Db;
  engine: Engine;
  box: SecretBox;
  findCountry: FindCountry;
}

type Input = InputOf<typeof privacyContract.listManagedDataRequests>;

/** The caller waits, at most 5 s. */
const RESPONSE_AFTER_MS = 4_000;
const POLL_MS = 50;

/** Export and anonymisation of an account's data. */
export function privacyHandlers({
  db,
  engine,
  box,
  findCountry,
}: PrivacyDeps): Handlers<typeof privacyContract> {
  return {
    exportData: (request) => exportAccount({ db, box }, request),

    async anonymizeData({ input, signal, ...by }) {
      const { account_id, user_id } = requireUser(by.caller);
      const { scope } = input;
      const whom = await readWhom(input, (...numbers) => findCountry({ account_id }, numbers));
      const { id, lane } = await requestErasure(db, { account_id, scope, whom, user_id, ip: by.ip }, by);
      engine.wake([lane]);
      const { status, affected } = await waitForRequest(db, id, signal);
      const message = status === "processing" ? "Data is being anonymised" : "Data anonymised";
      const kept = whom === null ? {} : { kept: KEPT_OF_PERSON };
      return new OkResponse({ requestId: id, scope, status, affected, ...kept }, { message });
    },

    async listDataRequests({ input: { limit, cursor }, caller }) {
      const before = readCursor(cursor);
      let query = db
        .selectFrom("data_request")
        .selectAll()
        .where("account_id", "=", requireUser(caller).account_id);
      if (before !== undefined) query = query.where("id", "<", before);
      const found = await query
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      const { rows, pagination } = toPage(found, limit, ({ id }) => id);
      return new OkResponse(rows, { beside: { pagination } });
    },

    async listManagedDataRequests({ input, caller }) {
      const { rows, pagination } = await listManagedRequests(db, resellerOf(caller), input);
      return new OkResponse(rows, { beside: { pagination } });
    },
  };
}

const KEPT_OF_PERSON = [
  "An opt-out stays as a digest without the number, so that campaigns do not write to the person again.",
  "Messages of other people in groups stay, also where they mention the person.",
  "The network reports the members of a group again while the person is in it.",
  "Receivers of webhooks, Chatwoot, Typebot and n8n have copies of their own.",
  "The keys of a linked phone stay with it, and backups until their retention ends.",
];

/** The one person of a request. A person beside another scope could be meant to narrow it, so this throws. */
async function readWhom(
  { scope, lead_id, number, phone, jid }: InputOf<typeof privacyContract.anonymizeData>,
  findCountry: (...numbers: (string | undefined)[]) => ReturnType<FindCountry>,
): Promise<RequestedErasure["whom"]> {
  const isNamed = [number, phone, jid].some((address) => address !== undefined);
  if (scope !== "person") {
    if (!isNamed && lead_id === undefined) return null;
    throw invalidField(
      "scope",
      "must be `person` to anonymise one person; this scope covers everybody",
      "unknown_value",
      { values: "person" },
    );
  }
  if (lead_id !== undefined) {
    if (!isNamed) return { lead_id };
    throw invalidField("lead_id", "must be the only one of lead_id, number, phone and jid", "only_one_of", {
      fields: "lead_id, number, phone, jid",
    });
  }
  const target = {
    ...(number !== undefined && { number }),
    ...(phone !== undefined && { phone }),
    ...(jid !== undefined && { jid }),
  };
  const { jid: address, type } = resolveRecipient(target, await findCountry(number, phone, jid));
  if (type === "group") throw invalidField("jid", "must be a person, not a group", "not_a_person");
  return { address };
}

/** The requests of the accounts that the caller manages. */
async function listManagedRequests(
  db: Db,
  reseller: number | undefined,
  { limit, cursor, q, account_id, status, request_type }: Input,
) {
  const before = readCursor(cursor);
  let query = db
    .selectFrom("data_request as r")
    .innerJoin("account as a", "a.id", "r.account_id")
    .selectAll("r")
    .select("a.name as account_name")
    .where("a.removed_at", "is", null)
    .where(containsText(q, sql`a.name`));
  if (reseller !== undefined)
    query = query.where((is) => is.or([is("a.id", "=", reseller), is("a.parent_id", "=", reseller)]));
  if (account_id !== undefined) query = query.where("r.account_id", "=", account_id);
  if (status !== undefined) query = query.where("r.status", "=", status);
  if (request_type !== undefined) query = query.where("r.request_type", "=", request_type);
  if (before !== undefined) query = query.where("r.id", "<", before);
  const found = await query
    .orderBy("r.id", "desc")
    .limit(limit + 1)
    .execute();
  return toPage(found, limit, ({ id }) => id);
}

async function waitForRequest(db: Db, id: number, signal: AbortSignal) {
  const giveUpAt = performance.now() + RESPONSE_AFTER_MS;
  for (;;) {
    const request = await db
      .selectFrom("data_request")
      .select(["status", "affected"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    if (request.status !== "processing" || performance.now() > giveUpAt || signal.aborted) return request;
    await sleep(POLL_MS);
  }
}
