import { sql } from "kysely";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { invalidField } from "../../../platform/gateway-error.ts";
import { type Caller, OkResponse } from "../../../platform/http/handler.ts";
import type { InputOf, OutputOf } from "../../../platform/http/route.ts";
import { PANEL_HEADER, setDeviceCookie } from "../../../platform/http/session-cookie.ts";
import { ulid } from "../../../platform/ulid.ts";
import { recordAudit } from "../../audit/audit.ts";
import type { AccessTokenClaims, AccessTokens } from "../access/access-tokens.ts";
import { requireActiveAccount } from "../access/authorise.ts";
import { sessionHeaders } from "../access/session-headers.ts";
import { createSignInThrottle } from "../access/sign-in-throttle.ts";
import type { accountsContract } from "../contract.ts";
import { endUserAccess } from "../users/end-user-access.ts";
import { findPasswordProblem } from "../users/find-password-problem.ts";
import { createPasswordHasher, needsRehash, type PasswordHasher } from "../users/password-hasher.ts";
import { findUser, findUsersByEmail, type SignInUser, toUserView } from "./sign-in-user.ts";
import { createTrustedDevices, DEVICE_SECONDS } from "./trusted-devices.ts";
import {
  Crowd,
  type PasswordCheckDeps,
  type RequestHeaders,
  type SignInContext,
  verifyPassword,
  wrongCredentials,
} from "./verify-password.ts";

type SignedIn = OkResponse<OutputOf<typeof accountsContract.login>>;

/** What `createSignInHandlers` returns. */
export type SignInHandlers = ReturnType<typeof createSignInHandlers>;

export interface SignInOptions {
  db: Db;
  tokens: AccessTokens;
  passwords: PasswordHasher;
  /** The secret key, and during a key change the second key. */
  secrets: readonly [string, ...string[]];
}

interface SignInDeps extends PasswordCheckDeps {
  tokens: AccessTokens;
}

type SignedInUser = Extract<Caller, { kind: "user" }>;

/** Sign-in, confirmation and password change all check a password, so they share the throttle. */
export function createSignInHandlers({ db, tokens, passwords, secrets }: SignInOptions) {
  const devices = createTrustedDevices(secrets);
  const throttle = createSignInThrottle({ db, digestKey: secrets[0] });
  const [devicePasswords, crowdPasswords] = [createPasswordHasher(), createPasswordHasher()];
  const crowd = new Crowd();
  const parts = { db, tokens, passwords, devicePasswords, crowdPasswords, crowd, devices, throttle };
  return {
    login: (input: InputOf<typeof accountsContract.login>, from: SignInContext) => login(parts, input, from),
    /** The user with this e-mail and password, without a sign-in; throws like `login`. */
    check: (input: InputOf<typeof accountsContract.login>, from: SignInContext) => check(parts, input, from),
    throttle,
    /** The headers of a response that make the browser a known device of a user whose password was right. */
    rememberDevice: ({ id }: { id: number }, from: RequestHeaders) => deviceHeaders(devices.issue(id), from),
    /** Writes a sign-in of a user whose password was checked or just set. */
    insert: (trx: Trx, user: { id: number; password_hash: string }) => insertSignIn(trx, tokens, user),
    /** The response to a sign-in. */
    respond: (user: SignInUser, sign_in: string, from: RequestHeaders) =>
      signedIn(parts, user, sign_in, { from }),
    /** Confirms the password again, as sensitive routes require. */
    confirm: (
      input: InputOf<typeof accountsContract.confirmPassword>,
      by: SignInContext & { caller: SignedInUser },
    ) => confirm(parts, input, by),
    /** `ended`: sign-ins that the password change ended. */
    changePassword: (
      input: InputOf<typeof accountsContract.changePassword>,
      by: SignInContext & { caller: SignedInUser },
    ) => changePassword(parts, input, by),
  };
}

async function login(parts: SignInDeps, input: InputOf<typeof accountsContract.login>, from: SignInContext) {
  const user = await check(parts, input, from);
  const password_hash = await refreshHash(parts, user, input.password);
  const sign_in = await parts.db.transaction().execute(async (trx) => {
    const id = await insertSignIn(trx, parts.tokens, { ...user, password_hash });
    await recordAudit(trx, { ...entryOf(user, from, id), action: "auth.login" });
    return id;
  });
  return signedIn(parts, user, sign_in, { from: from.headers });
}

async function check(
  parts: SignInDeps,
  { email, password, account_id, device_token }: InputOf<typeof accountsContract.login>,
  from: SignInContext,
): Promise<SignInUser> {
  const find = (preferred?: number) => findUsersByEmail(parts.db, { email, account_id, preferred });
  const user = await verifyPassword(parts, email, withDevice(from, device_token), password, find);
  requireActiveAccount(user.status);
  return user;
}

async function confirm(
  parts: SignInDeps,
  { password, device_token }: InputOf<typeof accountsContract.confirmPassword>,
  by: SignInContext & { caller: SignedInUser },
): Promise<void> {
  const user = await verifyOwnPassword(parts, withDevice(by, device_token), password);
  await parts.db.transaction().execute(async (trx) => {
    await trx
      .updateTable("sign_in")
      .set({ confirmed_at: sql<Date>`now()` })
      .where("id", "=", by.caller.sign_in)
      .execute();
    await recordAudit(trx, { ...entryOf(user, by, by.caller.sign_in), action: "auth.confirm" });
  });
}

/** The signed-in user, after the password proved right. */
async function verifyOwnPassword(
  parts: SignInDeps,
  by: SignInContext & { caller: SignedInUser },
  password: string,
): Promise<SignInUser> {
  const known = await findUser(parts.db, by.caller.user_id);
  return verifyPassword(parts, known?.email ?? "", by, password, async () => (known ? [known] : []));
}

async function changePassword(
  parts: SignInDeps,
  { current_password, new_password, device_token }: InputOf<typeof accountsContract.changePassword>,
  by: SignInContext & { caller: SignedInUser },
): Promise<{ response: SignedIn; ended: string[] }> {
  const user = await verifyOwnPassword(parts, withDevice(by, device_token), current_password);
  if (new_password === current_password)
    throw invalidField("new_password", "is the current one", "duplicate");
  const fault = await findPasswordProblem(new_password, [user.email, user.name, user.account_name]);
  if (fault) throw invalidField("new_password", fault.issue, fault.code, fault.params);
  const password_hash = await parts.passwords.hash(new_password);
  const { ended, sign_in } = await parts.db.transaction().execute(async (trx) => {
    await trx
      .updateTable("account_user")
      .set({ password_hash, must_change_password: false })
      .where("id", "=", user.id)
      .execute();
    const ended = await trx.deleteFrom("sign_in").where("user_id", "=", user.id).returning("id").execute();
    await endUserAccess(trx, user.id);
    await recordAudit(trx, { ...entryOf(user, by, by.caller.sign_in), action: "auth.password" });
    return { ended, sign_in: await insertSignIn(trx, parts.tokens, { ...user, password_hash }) };
  });
  const session = by.caller.is_panel ? { user_id: user.id, sign_in } : undefined;
  const changed = { ...user, must_change_password: false };
  const response = await signedIn(parts, changed, sign_in, { from: by.headers, session });
  return { response, ended: ended.map(({ id }) => id) };
}

function entryOf(user: SignInUser, { ip, request_id }: SignInContext, sign_in: string) {
  const { id: user_id, account_id, account_type, role, instance_ids } = user;
  const identity = { user_id, account_id, account_type, role, instance_ids };
  const caller = { kind: "user", ...identity, sign_in, is_fresh: true } as const;
  return { by: { caller, ip, request_id }, target: { type: "user", id: user_id }, account_id };
}

async function refreshHash(
  { db, passwords }: SignInDeps,
  user: SignInUser,
  password: string,
): Promise<string> {
  if (!needsRehash(user.password_hash)) return user.password_hash;
  const password_hash = await passwords.hash(password);
  await db
    .updateTable("account_user")
    .set({ password_hash })
    .where("id", "=", user.id)
    .where("password_hash", "=", user.password_hash)
    .execute();
  return password_hash;
}

/** Requires the checked password to be current, since a concurrent password change ends all sign-ins. */
async function insertSignIn(
  trx: Trx,
  tokens: AccessTokens,
  user: { id: number; password_hash: string },
): Promise<string> {
  await trx
    .deleteFrom("sign_in")
    .where("user_id", "=", user.id)
    .where("expires_at", "<", sql<Date>`now()`)
    .execute();
  const { rows } = await sql<{ id: string }>`
    insert into sign_in (id, user_id, expires_at)
    select ${ulid()}, u.id, now() + make_interval(secs => ${tokens.lifetimeSeconds})
    from (select id from account_user where id = ${user.id} and password_hash = ${user.password_hash} for share) u
    returning id`.execute(trx);
  if (!rows[0]) throw wrongCredentials();
  return rows[0].id;
}

/** Programs send the token in the body, the panel has it in a cookie. */
function withDevice<Context extends SignInContext>(from: Context, token: string | undefined): Context {
  return token === undefined ? from : { ...from, deviceToken: token };
}

function deviceHeaders(token: string, { origin }: RequestHeaders): Record<string, string> {
  return { "set-cookie": setDeviceCookie(token, DEVICE_SECONDS, origin) };
}

interface SignedInOptions {
  /** The headers of the request. */
  from?: RequestHeaders | undefined;
  /** The panel's, whose cookie is replaced. */
  session?: AccessTokenClaims | undefined;
}

/** No script of the panel gets the token of the device, which is in a cookie. */
async function signedIn(
  { tokens, devices }: SignInDeps,
  user: SignInUser,
  sign_in: string,
  { from, session }: SignedInOptions,
): Promise<SignedIn> {
  const token = await tokens.sign({ user_id: user.id, sign_in });
  const device_token = devices.issue(user.id);
  const panel = from?.[PANEL_HEADER] === "1" ? from : undefined;
  const signed = { token, token_type: "Bearer" as const, expires_in: tokens.lifetimeSeconds };
  return new OkResponse(
    { ...signed, ...(!panel && { device_token }), ...toUserView(user) },
    {
      beside: { token, accountId: user.account_id },
      ...(panel && { headers: deviceHeaders(device_token, panel) }),
      ...(session && { headers: await sessionHeaders(tokens, session) }),
    },
  );
}
