import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { type AuditActor, recordAudit } from "../audit/audit.ts";
import { apiKeyHandlers, refuseKey } from "./api-keys/api-key-handlers.ts";
import { changeStatus } from "./change-status.ts";
import type { apiKeysContract, instancesContract, proxyContract } from "./contract.ts";
import { addControlJob } from "./control-job-ref.ts";
import { type CreateInstanceDeps, createInstance, type InstanceCreator } from "./create-instance.ts";
import { instanceAuditEntry } from "./instance-audit-entry.ts";
import { type InstanceRow, lockInstance } from "./instance-row.ts";
import { readSettings, requireSettingsWithinPlan } from "./instance-settings.ts";
import { getInstanceView, type ListedInstance, listInstances } from "./list-instances.ts";
import { asReached } from "./live-statuses.ts";
import { type ProxyDeps, proxyHandlers } from "./proxy-handlers.ts";
import { requestRemoval } from "./request-removal.ts";
import { type OutgoingPolicy, requireAllowedProxyUrl } from "./require-allowed-urls.ts";

type UpdateInput = InputOf<typeof instancesContract.updateInstance>;

export { digestApiKey, isApiKey } from "./api-keys/api-key.ts";
export { holdApiKey } from "./api-keys/issue-api-key.ts";
export { ATTENTION_MESSAGES, attentionOf } from "./attention-of.ts";
export { changeStatus, type InstanceColumnChange, type InstanceStatusChange } from "./change-status.ts";
export {
  addControlJob,
  CONTROL_JOB_GROUP,
  type ControlJobRef,
  controlJobRef,
  hasControlJob,
} from "./control-job-ref.ts";
export { createWebhookSecret } from "./create-webhook-secret.ts";
export { instanceAuditEntry } from "./instance-audit-entry.ts";
export {
  findAndLockInstance,
  findInstance,
  getInstance,
  type InstanceRow,
  lockInstance,
  noInstance,
} from "./instance-row.ts";
export type { InstanceSettings } from "./instance-settings.ts";
export { asReached, LIVE_STATUSES, ONLINE_STATUSES, PAIRING_STATUSES } from "./live-statuses.ts";
export { announceRemoval, markInstanceRemoved, type RemovedInstance } from "./request-removal.ts";
export { toPolicyUrl } from "./require-allowed-urls.ts";
export {
  mayUseSandbox,
  requireSandbox,
  SANDBOX_NOT_ALLOWED,
  SANDBOX_OFF,
  type SandboxPolicy,
  sandboxOff,
} from "./require-sandbox.ts";
export { newChatsLockOf } from "./to-instance-view.ts";
export { waitForInstance } from "./wait-for-instance.ts";

export interface InstancesDeps
  extends Omit<CreateInstanceDeps, "outgoing">,
    Pick<ProxyDeps, "outgoing" | "reachNetwork"> {
  engine: Pick<Engine, "wake" | "publish" | "subscribe" | "hasLiveNode">;
  /** Evicts the keys with these digests from the caches of all nodes. */
  invalidateApiKeys(digests: readonly Buffer[]): void;
}

type InstanceHandlers = Handlers<typeof instancesContract & typeof apiKeysContract & typeof proxyContract>;

export function instanceHandlers(deps: InstancesDeps): InstanceHandlers {
  return { ...accountWide(deps), ...ofOneInstance(deps), ...apiKeyHandlers(deps), ...proxyHandlers(deps) };
}

function accountWide(
  deps: InstancesDeps,
): Pick<InstanceHandlers, "listInstances" | "createInstance" | "listAllInstances" | "createInstanceWithKey"> {
  const { db, baseUrl } = deps;
  return {
    async listInstances({ input, caller }) {
      const { rows, pagination } = await listInstances(db, baseUrl, {
        ...input,
        account_id: accountOf(caller),
        ids: idsOf(caller),
      });
      return new OkResponse(await asSeen(deps, rows), { beside: { pagination } });
    },

    async createInstance({ input, idempotencyKey, ...by }) {
      const key = idempotencyKey ? { route: "createInstance", key: idempotencyKey } : undefined;
      const { created, headers } = await create(deps, getAccountOf(by.caller), input, { ...by, key });
      return new OkResponse(created, { headers });
    },

    async listAllInstances({ input, caller }) {
      const { rows: listed, pagination } = await listInstances(db, baseUrl, {
        ...input,
        account_id: accountOf(caller),
        ids: idsOf(caller),
      });
      const rows = await asSeen(deps, listed);
      const own = caller.kind === "key" ? caller.instance_id : undefined;
      const shown = caller.kind === "admin" ? rows : rows.map((row) => hideToken(row, own));
      return new OkResponse(shown, { beside: { pagination } });
    },

    async createInstanceWithKey({ input, idempotencyKey, ...by }) {
      if (by.caller.kind === "key" && !by.caller.may_manage) throw managesNothing();
      const key = idempotencyKey ? { route: routeOf(by.caller), key: idempotencyKey } : undefined;
      const account = await chooseAccount(db, by.caller, input.account_id);
      const { created, headers } = await create(deps, account, input, { ...by, key });
      const { api_key: token, id, name } = created;
      const instance = { ...(await getInstanceView(db, baseUrl, id)), token };
      const beside = { instance, token, name, connected: false, loggedIn: false };
      return new OkResponse(created, { beside, headers });
    },
  };
}

async function asSeen({ engine }: InstancesDeps, rows: ListedInstance[]): Promise<ListedInstance[]> {
  const hasSessionNode = await engine.hasLiveNode("sessions");
  return rows.map((row) => asReached(row, hasSessionNode));
}

/** The only instances that a caller may list; null: all of its account. */
function idsOf(caller: Caller): readonly number[] | null {
  if ("instance_ids" in caller) return caller.instance_ids;
  const isAlone = caller.kind === "key" && caller.scope === "instance" && !caller.may_manage;
  return isAlone ? [caller.instance_id] : null;
}

function managesNothing(): GatewayError {
  const message = "API keys of this account may not create instances. Sign in to do so.";
  return new GatewayError("FORBIDDEN", message, { details: { setting: "keys_manage_instances" } });
}

/** Only keys of the same instance get a stored response again, since it contains the new key. */
function routeOf(caller: Caller): string {
  return caller.kind === "key" ? `createInstanceWithKey:${caller.instance_id}` : "createInstanceWithKey";
}

/** A key sees its own masked token, and no other key's. */
function hideToken(row: ListedInstance, own: number | undefined): ListedInstance {
  return row.id === own ? row : { ...row, token: null };
}

async function create(
  deps: InstancesDeps,
  account_id: number,
  input: InputOf<typeof instancesContract.createInstance>,
  by: InstanceCreator,
) {
  const { created, lanes, isReplayed } = await createInstance(deps, account_id, input, by);
  deps.engine.wake(lanes);
  return { created, headers: isReplayed ? REPLAYED : {} };
}

const REPLAYED = { "idempotent-replayed": "true" };

function ofOneInstance(
  deps: InstancesDeps,
): Pick<InstanceHandlers, "getInstance" | "updateInstance" | "deleteInstance"> {
  const { db, baseUrl, engine } = deps;
  return {
    async getInstance({ input: { id } }) {
      const view = await getInstanceView(db, baseUrl, id);
      return asReached(view, await engine.hasLiveNode("sessions"));
    },

    async updateInstance({ input, ...by }) {
      engine.wake(await updateInstance(deps, input, by));
      engine.publish("instance", String(input.id));
      return getInstanceView(db, baseUrl, input.id);
    },

    async deleteInstance({ input: { id, end_descendants }, signal, ...by }) {
      if (end_descendants) refuseKey(by.caller);
      await requestRemoval(deps, id, { by, end_descendants, signal });
      return { id };
    },
  };
}

/** Undefined for the administrative token, which belongs to no account. */
function accountOf(caller: Caller): number | undefined {
  return "account_id" in caller ? caller.account_id : undefined;
}

function getAccountOf(caller: Caller): number {
  const account = accountOf(caller);
  if (account !== undefined) return account;
  throw new GatewayError(
    "AUTH_REQUIRED",
    "This route needs a signed-in user: send the token of POST /api/auth/login as Authorization: Bearer.",
  );
}

/** A key creates in its own account; the administrative token in any, by default the owner's. */
async function chooseAccount(db: Db, caller: Caller, requested: number | undefined): Promise<number> {
  if (caller.kind === "admin") return requested ?? getOwnerAccount(db);
  const own = getAccountOf(caller);
  if (requested === undefined || requested === own) return own;
  throw new GatewayError(
    "FORBIDDEN",
    "Only the administrative token may create instances in other accounts.",
  );
}

async function getOwnerAccount(db: Db): Promise<number> {
  const owner = await db
    .selectFrom("account")
    .select("id")
    .where("account_type", "=", "owner")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (owner) return owner.id;
  throw new GatewayError(
    "NOT_FOUND",
    "There is no account of the type owner. Name the account of the new instance.",
  );
}

/** Changes only the given fields; reopens a live session if its proxy changes. Returns the lanes to wake. */
async function updateInstance(
  { db, box, outgoing }: { db: Db; box: SecretBox; outgoing: OutgoingPolicy },
  input: UpdateInput,
  by: AuditActor,
): Promise<number[]> {
  const { id, name, webhook_enabled, metadata, proxy } = input;
  const context = encryptionContextOf("instance", "proxy", id);
  await requireAllowedProxyUrl(outgoing, proxy?.url);
  return db.transaction().execute(async (trx) => {
    const row = await lockInstance(trx, id);
    await requireSettingsWithinPlan(trx, row.account_id, input.settings);
    await trx
      .updateTable("instance")
      .set({
        name,
        webhook_enabled,
        metadata: metadata && JSON.stringify(metadata),
        ...(proxy !== undefined && { proxy: proxy && box.seal(proxy.url, context) }),
        settings: JSON.stringify(readSettings(row.settings, input)),
        updated_at: sql<Date>`now()`,
      })
      .where("id", "=", id)
      .execute();
    await recordAudit(trx, instanceAuditEntry(by, "instance.update", row, input));
    const before = row.proxy && box.open(row.proxy, context);
    const isMoved = proxy !== undefined && (proxy?.url ?? null) !== before;
    return isMoved && row.wanted === "connected" ? reopen(trx, row) : [];
  });
}

/** The pairing stays; a pairing in progress restarts. Must be the last of the transaction. */
async function reopen(trx: Trx, row: InstanceRow): Promise<number[]> {
  if (row.jid === null) {
    const phone = row.pairing_phone ?? undefined;
    await addControlJob(trx, row.lane, { do: "connect", phone, afresh: true });
    return [row.lane];
  }
  await addControlJob(trx, row.lane, { do: "reconnect" });
  const change = { status: "reconnecting", reason: "proxy_changed", will_retry: true } as const;
  return [row.lane, ...(await changeStatus(trx, row, change))];
}
