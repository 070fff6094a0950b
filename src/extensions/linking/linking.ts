import { sql } from "kysely";
import { recordAudit } from "../../core/audit/audit.ts";
import { getInstance, holdApiKey, instanceAuditEntry, lockInstance } from "../../core/instances/instances.ts";
import type { InstanceControlDeps } from "../../core/sessions/sessions.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Caller, Handlers } from "../../platform/http/handler.ts";
import { isWithin } from "../../platform/reach.ts";
import type { linkingContract } from "./contract.ts";
import { bindLink, createLink, getLink } from "./open-link.ts";
import {
  cancelPasskey,
  confirmPasskey,
  notWaiting,
  type PasskeyDeps,
  submitAssertion,
  toPasskey,
} from "./passkey.ts";
import { createPollLimit } from "./poll-limit.ts";
import { connectByLink, readLink, requireUnlinked } from "./read-link.ts";

const ROW_ID = /^[1-9]\d{0,15}$/;

const ANY = "default";

export interface LinkingDeps extends InstanceControlDeps, PasskeyDeps {
  engine: InstanceControlDeps["engine"];
  baseUrl: string;
}

type LinkingHandlers = Handlers<typeof linkingContract>;

export function linkingHandlers(deps: LinkingDeps): LinkingHandlers {
  return { ...ofInstances(deps), ...ofLinks(deps), ...ofWaha(deps) };
}

function ofInstances(
  deps: LinkingDeps,
): Pick<
  LinkingHandlers,
  "getPasskey" | "submitPasskeyAssertion" | "confirmPasskey" | "cancelPasskey" | "createLink"
> {
  const { db, baseUrl } = deps;
  return {
    getPasskey: async ({ input: { id } }) => toPasskey(await getInstance(db, id)),
    submitPasskeyAssertion: ({ input: { id, ...assertion }, signal }) =>
      submitAssertion(deps, id, assertion, signal),
    confirmPasskey: ({ input: { id }, signal }) => confirmPasskey(deps, id, signal),
    cancelPasskey: ({ input: { id }, signal }) => cancelPasskey(deps, id, signal),

    async createLink({ input: { id }, ...by }) {
      const { token, expires_at } = await db.transaction().execute(async (trx) => {
        const row = await lockInstance(trx, id);
        if (by.caller.kind === "key") await holdApiKey(trx, by.caller.key_id);
        if (row.status === "connected")
          throw new GatewayError("CONFLICT", "The instance is already linked. Log it out first.");
        await recordAudit(trx, instanceAuditEntry(by, "instance.create_link", row));
        return createLink(trx, row);
      });
      return { id, url: `${baseUrl}/link/${token}`, expires_at };
    },
  };
}

function ofLinks(
  deps: LinkingDeps,
): Pick<
  LinkingHandlers,
  "openLink" | "readLink" | "connectLink" | "submitLinkAssertion" | "confirmLinkPasskey" | "cancelLinkPasskey"
> {
  const { db } = deps;
  const poll = createPollLimit();
  const unlinked = async ({ token, browser }: { token: string; browser: string }) => {
    const link = await getLink(db, token, browser);
    await requireUnlinked(deps, link);
    return link.instance_id;
  };
  return {
    openLink: async ({ input }) => ({ browser: await bindLink(db, input.token, input.browser) }),
    async readLink({ input: { token, browser, since }, ip, signal }) {
      const link = await getLink(db, token, browser);
      const read = () => readLink(deps, link, since, signal);
      return since === undefined ? read() : poll({ instance_id: link.instance_id, ip }, read);
    },
    connectLink: async ({ input: { token, browser, phone }, signal }) =>
      connectByLink(deps, await getLink(db, token, browser), phone, signal),
    submitLinkAssertion: async ({ input, signal }) =>
      submitAssertion(deps, await unlinked(input), input.assertion, signal),
    confirmLinkPasskey: async ({ input, signal }) => confirmPasskey(deps, await unlinked(input), signal),
    cancelLinkPasskey: async ({ input, signal }) => cancelPasskey(deps, await unlinked(input), signal),
  };
}

type Waha = "wahaPasskeyChallenge" | "wahaPasskey" | "wahaPasskeyConfirmation" | "wahaPasskeyConfirm";

/** The same operations under the paths and in the formats of WAHA. */
function ofWaha(deps: LinkingDeps): Pick<LinkingHandlers, Waha> {
  const { db } = deps;
  return {
    async wahaPasskeyChallenge({ input: { session }, caller }) {
      const row = await getInstance(db, await getNamedInstance(db, caller, session));
      const { state, challenge } = toPasskey(row);
      if (challenge === null) throw notWaiting(row, state);
      return challenge;
    },
    async wahaPasskey({ input: { session, ...assertion }, caller, signal }) {
      await submitAssertion(deps, await getNamedInstance(db, caller, session), assertion, signal);
      return { success: true };
    },
    async wahaPasskeyConfirmation({ input: { session }, caller }) {
      const row = await getInstance(db, await getNamedInstance(db, caller, session));
      const { state, code } = toPasskey(row);
      if (state !== "confirmation_required" || code === null) throw notWaiting(row, state);
      return { code };
    },
    async wahaPasskeyConfirm({ input: { session }, caller, signal }) {
      await confirmPasskey(deps, await getNamedInstance(db, caller, session), signal);
      return { success: true };
    },
  };
}

/**
 * Finds the instance of a session name. An API key finds only its own, by `default`, id or name; a signed-in
 * user finds any within reach. Throws NOT_FOUND, and CONFLICT if several instances have the name.
 */
async function getNamedInstance(db: Db, caller: Caller, session: string): Promise<number> {
  if (caller.kind !== "key" && caller.kind !== "user") throw notFound();
  let query = db
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", caller.account_id)
    .where("removed_at", "is", null)
    .limit(2);
  query =
    caller.kind === "key"
      ? query.where("id", "=", caller.instance_id)
      : query.where(isWithin(caller, sql.ref("id")));
  const isAny = caller.kind === "key" && session === ANY;
  if (!isAny)
    query = query.where(({ eb, or }) =>
      or([eb("name", "=", session), ...(ROW_ID.test(session) ? [eb("id", "=", Number(session))] : [])]),
    );
  const [found, another] = await query.execute();
  if (!found) throw notFound();
  if (another) throw new GatewayError("CONFLICT", `Several instances are named ${session}. Use the id.`);
  return found.id;
}

function notFound(): GatewayError {
  return new GatewayError(
    "NOT_FOUND",
    "There is no such session for this key. Use `default`, or the id or name of its instance.",
  );
}
