import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

export const DEVICE_SECONDS = 180 * 86_400;
/** `<user>.<time in base 36>.<22 characters>.<43 characters>`. */
const TOKEN = /^(\d{1,15})\.([0-9a-z]{1,11})\.([\w-]{22})\.([\w-]{43})$/;
const MOST_LENGTH = 100;

export interface TrustedDevice {
  id: string;
  /** Identifies the user, since an e-mail address can belong to users of several accounts. */
  user_id: number;
}

/** Tokens for devices after a successful sign-in, each valid for one user and 180 days. */
export interface TrustedDevices {
  issue(user_id: number): string;
  /** Undefined for a missing, forged or expired token. */
  find(token: string | undefined): TrustedDevice | undefined;
}

/** `secrets`: the first one signs; all of them are accepted during a key change. */
export function createTrustedDevices(secrets: readonly string[], now = () => Date.now()): TrustedDevices {
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync("sha256", secret, "", "waygate known devices", 32)),
  );
  const [own = randomBytes(32)] = keys;
  return {
    issue(user_id) {
      const issued = now().toString(36);
      const id = randomBytes(16).toString("base64url");
      const signed = `${user_id}.${issued}.${id}`;
      return `${signed}.${sign(own, signed).toString("base64url")}`;
    },
    find(token) {
      if (token === undefined || token.length > MOST_LENGTH) return undefined;
      const [, user = "", issued = "", id = "", mac = ""] = TOKEN.exec(token) ?? [];
      const age = now() - Number.parseInt(issued, 36);
      if (!(age >= 0 && age < DEVICE_SECONDS * 1_000)) return undefined;
      const received = Buffer.from(mac, "base64url");
      const isValid = keys.some((key) => timingSafeEqual(received, sign(key, `${user}.${issued}.${id}`)));
      return isValid ? { id, user_id: Number(user) } : undefined;
    },
  };
}

function sign(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
