import { randomBytes } from "node:crypto";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { Semaphore } from "../../../platform/limits/semaphore.ts";

/** Argon2id, 19 MiB, two passes, one lane: 36 ms. The algorithm is the library's default. Tests lower it. */
export const PASSWORD_COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** The hash of a random password that nobody knows. */
let unknownUser: Promise<string> | undefined;
const HASHES_AT_ONCE = 2;
const MOST_WAITING = 20;

/** Hashes passwords and checks them, two users' at once; throws RATE_LIMITED if twenty are already queued. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** Takes the same time for a user who does not exist (`undefined`). */
  verify(stored: string | undefined, password: string): Promise<boolean>;
  /** Which of these hashes fit the password; waits once for all of them. */
  verifyEach(stored: readonly (string | undefined)[], password: string): Promise<boolean[]>;
}

/** `check` compares a password with a hash. */
export function createPasswordHasher(check = checkHash): PasswordHasher {
  const slots = new Semaphore({ limit: HASHES_AT_ONCE });

  async function inSlot<T>(work: () => Promise<T>): Promise<T> {
    if (slots.countWaiting() >= MOST_WAITING) throw tooMany();
    return slots.use(work);
  }

  return {
    hash: (password) => inSlot(() => hashPassword(password)),
    verify: (stored, password) => inSlot(() => verifyOne(stored, password, check)),
    verifyEach: (stored, password) =>
      inSlot(async () => {
        const fits: boolean[] = [];
        for (const one of stored) fits.push(await verifyOne(one, password, check));
        return fits;
      }),
  };
}

async function verifyOne(
  stored: string | undefined,
  password: string,
  check: typeof checkHash,
): Promise<boolean> {
  unknownUser ??= hashPassword(randomBytes(32).toString("base64"));
  const isRight = await check(stored ?? (await unknownUser), normalise(password));
  return isRight && stored !== undefined;
}

async function checkHash(hash: string, password: string): Promise<boolean> {
  const { verify } = await import("@node-rs/argon2");
  return verify(hash, password);
}

/** Hashes without queueing behind sign-ins; for the first start and the command line. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await import("@node-rs/argon2");
  return hash(normalise(password), PASSWORD_COST);
}

/** Whether a stored hash has other cost parameters than the current ones. */
export function needsRehash(stored: string): boolean {
  const { memoryCost, timeCost, parallelism } = PASSWORD_COST;
  return !stored.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`);
}

function normalise(password: string): string {
  return password.normalize("NFKC");
}

function tooMany(): GatewayError {
  return new GatewayError("RATE_LIMITED", "Too many sign-ins at once. Try again in a moment.", {
    retryAfterSeconds: 1,
  });
}
