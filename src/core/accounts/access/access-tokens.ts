import { createHash, hkdfSync, randomUUID } from "node:crypto";
import { errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { GatewayError } from "../../../platform/gateway-error.ts";

const ISSUER = "waygate";
/** A token for one use is refused in the other, so that neither can be planted as the other. */
const AUDIENCES = { api: "waygate-api", panel: "waygate-panel" };
const ALGORITHM = "HS256";
const CLOCK_SKEW_SECONDS = 30;

/** Content of a token: the user and the sign-in. */
export interface AccessTokenClaims {
  user_id: number;
  sign_in: string;
}

/** `api`: for the Authorization header; `panel`: for the session cookie of the panel. */
export type TokenUse = keyof typeof AUDIENCES;

export interface AccessTokens {
  /** Lifetime of a token in seconds. */
  readonly lifetimeSeconds: number;
  /** Default: `api`. */
  sign(claims: AccessTokenClaims, use?: TokenUse): Promise<string>;
  /** Throws INVALID_TOKEN, the same for every reason. */
  verify(token: string, use?: TokenUse): Promise<AccessTokenClaims>;
}

/** JWTs (HS256) under a key derived from the secret key; a second key is accepted during a key change. */
export function createAccessTokens({
  secretKey,
  secondKey,
  lifetimeSeconds,
}: AccessTokenOptions): AccessTokens {
  const own = toKey(secretKey);
  const keys = secondKey === undefined ? [own] : [own, toKey(secondKey)];

  return {
    lifetimeSeconds,
    sign: ({ user_id, sign_in }, use = "api") =>
      new SignJWT({ sid: sign_in })
        .setProtectedHeader({ alg: ALGORITHM, kid: own.kid, typ: "JWT" })
        .setSubject(String(user_id))
        .setJti(randomUUID())
        .setIssuer(ISSUER)
        .setAudience(AUDIENCES[use])
        .setIssuedAt()
        .setNotBefore("0s")
        .setExpirationTime(`${lifetimeSeconds} seconds`)
        .sign(own.key),
    async verify(token, use = "api") {
      const found = await jwtVerify(token, (header) => findKey(keys, header.kid), {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCES[use],
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ["sub", "sid", "jti", "exp"],
      }).catch(refuse);
      return readClaims(found.payload);
    },
  };
}

export interface AccessTokenOptions {
  secretKey: string;
  secondKey?: string;
  lifetimeSeconds: number;
}

/** One error for every kind of invalid token, so that a caller learns nothing from it. */
export function invalidToken(): GatewayError {
  return new GatewayError("INVALID_TOKEN", "The token is not valid or has expired. Sign in again.");
}

interface TokenKey {
  kid: string;
  key: Uint8Array;
}

function toKey(secretKey: string): TokenKey {
  const key = new Uint8Array(hkdfSync("sha256", secretKey, "", "waygate sign-in tokens", 32));
  return { key, kid: createHash("sha256").update(key).digest("hex").slice(0, 16) };
}

function findKey(keys: readonly TokenKey[], kid: string | undefined): Uint8Array {
  const found = keys.find((key) => key.kid === kid);
  if (!found) throw new errors.JWKSNoMatchingKey();
  return found.key;
}

function refuse(error: unknown): never {
  if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalidToken();
  throw error;
}

function readClaims({ sub, sid }: JWTPayload): AccessTokenClaims {
  const user_id = Number(sub);
  if (!Number.isSafeInteger(user_id) || typeof sid !== "string") throw invalidToken();
  return { user_id, sign_in: sid };
}
