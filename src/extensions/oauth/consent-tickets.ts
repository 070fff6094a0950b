import { createHash, hkdfSync, randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { ASSISTANT_SCOPES } from "../../platform/http/route.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";

const AUDIENCE = "waygate-consent";
const ALGORITHM = "HS256";
export const TICKET_SECONDS = 600;
const MOST_CHARACTERS = 12_000;

const claims = z.object({
  jti: z.string(),
  sub: z.string().transform(Number).pipe(z.number().int().positive()),
  password: z.string(),
  request: z.object({
    client_id: z.string(),
    redirect_uri: z.string(),
    challenge: z.string(),
    state: z.string().optional(),
    scopes: z.array(z.enum(ASSISTANT_SCOPES)),
  }),
});

/** A user who has just given the password on the page of this request. */
export interface ConsentTicket {
  /** Differs for each ticket, so that one ticket gives one answer. */
  id: string;
  user_id: number;
  /** Changes with the user's password. */
  password: string;
  request: AuthorizationRequest;
}

/**
 * Signed texts that the consent page sends back. Only the page that follows the password contains one, and the
 * browser sends nothing on its own, so another site cannot consent in the user's name.
 */
export interface ConsentTickets {
  issue(ticket: Omit<ConsentTicket, "id">): Promise<string>;
  /** Undefined for a forged or expired ticket. */
  read(text: string): Promise<ConsentTicket | undefined>;
}

/** `secrets`: the first one signs; all of them are accepted during a key change. */
export function createConsentTickets(secrets: readonly [string, ...string[]]): ConsentTickets {
  const keys = secrets.map(
    (secret) => new Uint8Array(hkdfSync("sha256", secret, "", "waygate assistant consent", 32)),
  );
  const [own = new Uint8Array()] = keys;
  return {
    issue: ({ user_id, password, request }) =>
      new SignJWT({ password, request })
        .setProtectedHeader({ alg: ALGORITHM })
        .setJti(randomUUID())
        .setSubject(String(user_id))
        .setAudience(AUDIENCE)
        .setIssuedAt()
        .setExpirationTime(`${TICKET_SECONDS}s`)
        .sign(own),
    async read(text) {
      if (text.length > MOST_CHARACTERS) return undefined;
      for (const key of keys) {
        const payload = await verify(text, key);
        const parsed = claims.safeParse(payload);
        if (!parsed.success) continue;
        const { jti: id, sub: user_id, password, request } = parsed.data;
        return { id, user_id, password, request: { ...request, state: request.state } };
      }
      return undefined;
    },
  };
}

async function verify(text: string, key: Uint8Array): Promise<unknown> {
  try {
    const options = { algorithms: [ALGORITHM], audience: AUDIENCE, requiredClaims: ["exp", "sub"] };
    return (await jwtVerify(text, key, options)).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A mark of the user's current password, which reveals nothing of it. */
export function passwordMark(password_hash: string): string {
  return createHash("sha256").update(password_hash).digest("base64url").slice(0, 22);
}
