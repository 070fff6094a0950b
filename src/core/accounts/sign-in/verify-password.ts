import type { Db } from "../../../platform/db/database.ts";
import { GatewayError, invalidFields } from "../../../platform/gateway-error.ts";
import { Semaphore, type Slot } from "../../../platform/limits/semaphore.ts";
import { recordAudit } from "../../audit/audit.ts";
import {
  networkOf,
  type SignInSource,
  type SignInThrottle,
  tooManyFailures,
} from "../access/sign-in-throttle.ts";
import type { PasswordHasher } from "../users/password-hasher.ts";
import { endWelcome } from "../users/welcome-link.ts";
import { MOST_USERS, type SignInUser } from "./sign-in-user.ts";
import type { TrustedDevices } from "./trusted-devices.ts";

/** Of networks that have failed too often. */
const CROWDS_AT_ONCE = 2;
const MOST_IN_CROWD = 5;
/** After a wrong password. Tests lower it. */
export const CROWD_PAUSE = { ms: 1_000 };

export interface PasswordCheckDeps {
  db: Db;
  passwords: PasswordHasher;
  /** A separate queue for known devices, since unauthenticated clients can fill the other one. */
  devicePasswords: PasswordHasher;
  /** A queue for networks that have failed too often. */
  crowdPasswords: PasswordHasher;
  crowd: Crowd;
  devices: TrustedDevices;
  throttle: SignInThrottle;
}

/** The origin of a request. */
export interface SignInContext {
  ip: string;
  request_id: string;
  /** The token that an earlier sign-in gave this device. */
  deviceToken?: string | undefined;
  /** A browser gets a token for its device in a cookie. */
  headers?: RequestHeaders;
}

export type RequestHeaders = Readonly<Record<string, unknown>>;

interface Ticket {
  priority: number;
  drop: AbortController;
}

/**
 * The turns of networks that have failed too often, one at a time for each. Who waits draws lots, so that nobody gets in
 * more often by coming first: of all who come, a right password has the same chance as each wrong one.
 */
export class Crowd {
  readonly #slots = new Semaphore({ limit: CROWDS_AT_ONCE, limitPerKey: 1 });
  readonly #waiting = new Map<string, Ticket[]>();

  /** Throws RATE_LIMITED for the lowest lot of six. */
  async enter(network: string): Promise<Slot> {
    const ticket = { priority: Math.random(), drop: new AbortController() };
    const waiting = [...(this.#waiting.get(network) ?? []), ticket].sort((a, b) => b.priority - a.priority);
    const [lowest] = waiting.splice(MOST_IN_CROWD);
    this.#waiting.set(network, waiting);
    lowest?.drop.abort(tooManyFailures(1));
    const { priority, drop } = ticket;
    try {
      return await this.#slots.acquire({ key: network, priority, signal: drop.signal });
    } finally {
      const others = (this.#waiting.get(network) ?? []).filter((one) => one !== ticket);
      if (others.length > 0) this.#waiting.set(network, others);
      else this.#waiting.delete(network);
    }
  }
}

/**
 * The user with this password. Throws VALIDATION_ERROR with the accounts if it fits users of several. A failure takes the same
 * time and has the same message for every reason.
 */
export async function verifyPassword(
  parts: PasswordCheckDeps,
  email: string,
  { ip, request_id, deviceToken }: SignInContext,
  password: string,
  find: (preferred?: number) => Promise<SignInUser[]>,
): Promise<SignInUser> {
  const device = parts.devices.find(deviceToken);
  const users = await find(device?.user_id);
  const own = users.find(({ id }) => id === device?.user_id);
  let fitting = own ? await attempt(parts, email, { ip, device: device?.id }, [own], password) : [];
  if (fitting.length === 0)
    fitting = await attempt(parts, email, { ip }, users, password).catch((error: unknown) => {
      // A known device has its own count, so it may retry immediately.
      if (own && error instanceof GatewayError && error.code === "RATE_LIMITED") return [];
      throw error;
    });
  if (fitting.length > 1) throw chooseAccount(fitting);
  const [right] = fitting;
  if (right) {
    if (right.awaits_owner) await endWelcome(parts.db, right.id);
    return right;
  }
  for (const user of users) void noteRefusal(parts.db, user, { ip, request_id });
  throw wrongCredentials();
}

/** Returns the users whose password it is. Throws RATE_LIMITED. */
async function attempt(
  parts: PasswordCheckDeps,
  email: string,
  from: SignInSource,
  users: SignInUser[],
  password: string,
): Promise<SignInUser[]> {
  const reservation = await parts.throttle.begin(email.toLowerCase(), from);
  const { networkWait } = reservation;
  let how: "right" | "wrong" | "cancelled" = "cancelled";
  try {
    const hasher = from.device === undefined ? parts.passwords : parts.devicePasswords;
    const fitting =
      networkWait > 0
        ? await findInCrowd(parts, networkOf(from.ip), users, password)
        : await findByPassword(hasher, users, password);
    how = fitting.length > 0 ? "right" : "wrong";
    if (how === "wrong" && networkWait > 0) throw tooManyFailures(networkWait);
    return fitting;
  } finally {
    await reservation.end(how);
  }
}

/** Checks one password of a network at a time, and pauses after a wrong one. Throws RATE_LIMITED. */
async function findInCrowd(
  { crowd, crowdPasswords }: PasswordCheckDeps,
  network: string,
  users: SignInUser[],
  password: string,
): Promise<SignInUser[]> {
  const slot = await crowd.enter(network);
  let fitting: SignInUser[] = [];
  try {
    fitting = await findByPassword(crowdPasswords, users, password);
    return fitting;
  } finally {
    if (fitting.length > 0) slot.release();
    else setTimeout(() => slot.release(), CROWD_PAUSE.ms).unref();
  }
}

/** Always computes the same number of hashes, so that the time does not reveal the number of accounts. */
async function findByPassword(
  passwords: PasswordHasher,
  users: SignInUser[],
  password: string,
): Promise<SignInUser[]> {
  const candidates = Array.from({ length: MOST_USERS }, (_, index) => users[index]);
  const fits = await passwords.verifyEach(
    candidates.map((user) => user?.password_hash),
    password,
  );
  return users.filter((_, index) => fits[index]);
}

/** Only the holder of the right password learns which accounts the address has. */
function chooseAccount(users: readonly SignInUser[]): GatewayError {
  const accounts = users.map(({ account_id: id, account_name: name }) => ({ id, name }));
  const shown = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
  const issue = `must name one of the accounts to which the e-mail and the password belong: ${shown}`;
  const values = accounts.map(({ id }) => id).join(", ");
  const field = { field: "account_id", code: "unknown_value", params: { values }, issue } as const;
  return invalidFields([field], { accounts });
}

/** Not awaited: the response time must not reveal whether the user exists. */
async function noteRefusal(
  db: Db,
  { id, account_id }: SignInUser,
  { ip, request_id }: SignInContext,
): Promise<void> {
  const by = { caller: { kind: "public" }, ip, request_id } as const;
  await db
    .transaction()
    .execute((trx) =>
      recordAudit(trx, { by, action: "auth.refused", target: { type: "user", id }, account_id }),
    )
    .catch(() => {});
}

export function wrongCredentials(): GatewayError {
  return new GatewayError("INVALID_CREDENTIALS", "The e-mail or the password is wrong.");
}
