import { sql } from "kysely";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import { type Caller, type Handlers, OkResponse } from "../../../platform/http/handler.ts";
import { containsText } from "../../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../../platform/http/input/pagination.ts";
import type { InputOf } from "../../../platform/http/route.ts";
import { isWithin } from "../../../platform/reach.ts";
import { fieldNamesOf, recordAudit } from "../../audit/audit.ts";
import { requirePlanQuota } from "../../plans/plans.ts";
import type { AccessControl } from "../access/authorise.ts";
import { requireUser } from "../access/require-user.ts";
import { lockAccount, requireAccount } from "../account-row.ts";
import type { accountsContract } from "../contract.ts";
import { requireEmail, throwEmailConflict } from "./create-account.ts";
import { endUserAccess } from "./end-user-access.ts";
import { findPasswordProblem } from "./find-password-problem.ts";
import { getUser, selectUsers } from "./get-user.ts";
import type { PasswordHasher } from "./password-hasher.ts";
import { endWelcome } from "./welcome-link.ts";

export interface UserHandlersDeps {
  db: Db;
  passwords: PasswordHasher;
  access: Pick<AccessControl, "invalidateSignIns">;
}

type UserHandlers = Pick<
  Handlers<typeof accountsContract>,
  "listUsers" | "listAccountUsers" | "createUser" | "updateUser" | "deleteUser"
>;
type User = Extract<Caller, { kind: "user" }>;
type Role = User["role"];

/** The users of the caller's account only. */
export function userHandlers(deps: UserHandlersDeps): UserHandlers {
  const { db, access } = deps;
  return {
    listUsers: ({ input, caller }) => listUsers(db, requireUser(caller).account_id, input),

    async listAccountUsers({ input: { id, ...page } }) {
      await requireAccount(db, id);
      return listUsers(db, id, page);
    },

    createUser: (request) => createUser(deps, { ...request, caller: requireUser(request.caller) }),

    async updateUser(request) {
      const { user, changed } = await updateUser(deps, { ...request, caller: requireUser(request.caller) });
      access.invalidateSignIns(changed);
      return user;
    },

    async deleteUser(request) {
      const ended = await deleteUser(db, { ...request, caller: requireUser(request.caller) });
      access.invalidateSignIns(ended);
      return { id: request.input.id };
    },
  };
}

async function listUsers(
  db: Db,
  accountId: number,
  { limit, cursor, q }: InputOf<typeof accountsContract.listUsers>,
) {
  const before = readCursor(cursor);
  let query = selectUsers(db, accountId)
    .where(containsText(q, sql`name, email`))
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (before !== undefined) query = query.where("id", "<", before);
  const { rows, pagination } = toPage(await query.execute(), limit, ({ id }) => id);
  return new OkResponse(rows, { beside: { pagination } });
}

interface UserRequest<Input> {
  input: Input;
  caller: User;
  ip: string;
  request_id: string;
}

async function createUser(
  { db, passwords }: UserHandlersDeps,
  by: UserRequest<InputOf<typeof accountsContract.createUser>>,
) {
  const { input, caller } = by;
  const { account_id } = caller;
  requireEmail(input.email);
  requireRank(caller, input.role);
  const password_hash = await hashNew(passwords, input.password, [input.email, input.name]);
  return db.transaction().execute(async (trx) => {
    await requirePlanQuota(trx, { account_id, limit: "max_users", count: () => countUsers(trx, account_id) });
    const { name, email, role, must_change_password = true } = input;
    const instance_ids = await readInstances(trx, account_id, input);
    const { id } = await trx
      .insertInto("account_user")
      .values({ account_id, name, email, role, instance_ids, password_hash, must_change_password })
      .returning("id")
      .executeTakeFirstOrThrow()
      .catch(throwEmailConflict);
    const target = { type: "user", id };
    await recordAudit(trx, { by, action: "user.create", target, account_id, fields: fieldNamesOf(input) });
    return getUser(trx, account_id, id);
  });
}

async function updateUser(
  { db, passwords }: UserHandlersDeps,
  by: UserRequest<InputOf<typeof accountsContract.updateUser>>,
) {
  const { input, caller } = by;
  const { id, password, ...columns } = input;
  const { account_id } = caller;
  const before = await getUser(db, account_id, id);
  requireOther(caller, id, input);
  requireRank(caller, before.role, input.role);
  if (input.email !== undefined) requireEmail(input.email);
  const personalWords = [input.email ?? before.email, input.name ?? before.name];
  const ofPassword = password !== undefined && {
    password_hash: await hashNew(passwords, password, personalWords),
    must_change_password: input.must_change_password ?? true,
  };
  return db.transaction().execute(async (trx) => {
    await lockAccount(trx, account_id);
    const { role = (await getUser(trx, account_id, id)).role } = input;
    const instance_ids = await readInstances(trx, account_id, { ...columns, role });
    await trx
      .updateTable("account_user")
      .set({ ...columns, ...ofPassword, instance_ids, account_id })
      .where("id", "=", id)
      .where("account_id", "=", account_id)
      .execute()
      .catch(throwEmailConflict);
    await requireAdministrator(trx, account_id);
    const isEnd = password !== undefined || (input.role !== undefined && input.role !== before.role);
    const changed = isEnd ? await endSignIns(trx, id) : await findSignIns(trx, id);
    if (password !== undefined) await endWelcome(trx, id);
    const target = { type: "user", id };
    await recordAudit(trx, {
      by,
      action: "user.update",
      target,
      account_id,
      fields: fieldNamesOf(input, "id"),
    });
    return { user: await getUser(trx, account_id, id), changed };
  });
}

async function deleteUser(db: Db, by: UserRequest<{ id: number }>): Promise<string[]> {
  const { input, caller } = by;
  const { account_id } = caller;
  return db.transaction().execute(async (trx) => {
    await lockAccount(trx, account_id);
    const { id, role } = await getUser(trx, account_id, input.id);
    if (id === caller.user_id)
      throw new GatewayError("CONFLICT", "You cannot remove the user that you are signed in as.");
    requireRank(caller, role);
    const ended = await endSignIns(trx, id);
    await trx.deleteFrom("account_user").where("id", "=", id).execute();
    await requireAdministrator(trx, account_id);
    await recordAudit(trx, { by, action: "user.delete", target: { type: "user", id }, account_id });
    return ended;
  });
}

/** A stolen token must not lock its user out or raise its own role. */
function requireOther(
  { user_id }: User,
  id: number,
  { password, role }: { password?: string; role?: Role },
): void {
  if (user_id !== id) return;
  if (password !== undefined)
    throw invalidField("password", "is your own: change it with POST /api/auth/password", "is_your_own");
  if (role !== undefined)
    throw invalidField("role", "is your own: another administrator must change it", "is_your_own");
}

/** Users cannot create, change or remove a user with a higher role. Throws FORBIDDEN. */
export function requireRank(caller: User, ...roles: (Role | undefined)[]): void {
  if (caller.role === "super_admin" || !roles.includes("super_admin")) return;
  throw new GatewayError("FORBIDDEN", "Only a super_admin may do this.", {
    details: { needs: "super_admin" },
  });
}

/** The account is locked: if two administrators remove each other at once, one must remain. */
async function requireAdministrator(trx: Trx, account_id: number): Promise<void> {
  const left = await trx
    .selectFrom("account_user")
    .select("id")
    .where("account_id", "=", account_id)
    .where("role", "!=", "agent")
    .limit(1)
    .execute();
  if (left.length === 0)
    throw new GatewayError(
      "CONFLICT",
      "The account must keep at least one active administrator. Give another user the role admin first.",
    );
}

async function hashNew(
  passwords: PasswordHasher,
  password: string,
  personalWords: string[],
): Promise<string> {
  const fault = await findPasswordProblem(password, personalWords);
  if (fault) throw invalidField("password", fault.issue, fault.code, fault.params);
  return passwords.hash(password);
}

/**
 * The instances to store, locked so that none is removed meanwhile: null for all, undefined to change nothing. Throws
 * VALIDATION_ERROR.
 */
async function readInstances(
  trx: Trx,
  account_id: number,
  { role, instance_ids: ids }: { role: Role; instance_ids?: readonly number[] | null },
): Promise<number[] | null | undefined> {
  if (!ids) return role === "agent" ? ids : null;
  if (role !== "agent") {
    const rule = `is only for agents, and the role ${role} reaches all instances`;
    throw invalidField("instance_ids", `${rule}. Send null, or the role agent`, "not_allowed_here");
  }
  const found = await trx
    .selectFrom("instance")
    .select("id")
    .where("account_id", "=", account_id)
    .where("removed_at", "is", null)
    .where(isWithin({ instance_ids: ids }, sql.ref("id")))
    .orderBy("id")
    .forShare()
    .execute();
  const own = new Set(found.map(({ id }) => id));
  const missing = ids.find((id) => !own.has(id));
  if (missing !== undefined)
    throw invalidField("instance_ids", `has ${missing}, which is no instance of the account`, "not_found", {
      id: missing,
    });
  return [...own];
}

async function findSignIns(trx: Trx, user_id: number): Promise<string[]> {
  const rows = await trx.selectFrom("sign_in").select("id").where("user_id", "=", user_id).execute();
  return rows.map(({ id }) => id);
}

/** Ends the assistants of the user too. */
async function endSignIns(trx: Trx, user_id: number): Promise<string[]> {
  await endUserAccess(trx, user_id);
  const ended = await trx.deleteFrom("sign_in").where("user_id", "=", user_id).returning("id").execute();
  return ended.map(({ id }) => id);
}

async function countUsers(trx: Trx, account_id: number): Promise<number> {
  const { count } = await trx
    .selectFrom("account_user")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", account_id)
    .executeTakeFirstOrThrow();
  return count;
}
