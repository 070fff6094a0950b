import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

const LIFETIME_MS = 180 * 86_400_000;
/** `<time in base 36>.<22 characters>.<43 characters>`. */
const TOKEN = /^([0-9a-z]{1,11})\.([\w-]{22})\.([\w-]{43})$/;
const MOST_LENGTH = 80;

/** Tokens that a device keeps from a right sign-in, each for one e-mail address and half a year. */
export interface KnownDevices {
  issue(email: string): string;
  /** Names the device; undefined for no token, a forged or an old one, or that of another e-mail address. */
  find(token: string | undefined, email: string): string | undefined;
}

/** `secrets`: the first one signs; all of them are honoured, while one takes the place of another. */
export function createKnownDevices(secrets: readonly string[], now = () => Date.now()): KnownDevices {
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync("sha256", secret, "", "waygate known devices", 32)),
  );
  const [own = randomBytes(32)] = keys;
  return {
    issue(email) {
      const issued = now().toString(36);
      const id = randomBytes(16).toString("base64url");
      return `${issued}.${id}.${sign(own, issued, id, email).toString("base64url")}`;
    },
    find(token, email) {
      if (token === undefined || token.length > MOST_LENGTH) return undefined;
      const [, issued = "", id = "", mac = ""] = TOKEN.exec(token) ?? [];
      const age = now() - Number.parseInt(issued, 36);
      if (!(age >= 0 && age < LIFETIME_MS)) return undefined;
      const given = Buffer.from(mac, "base64url");
      const isOurs = keys.some((key) => timingSafeEqual(given, sign(key, issued, id, email)));
      return isOurs ? id : undefined;
    },
  };
}

function sign(key: Buffer, issued: string, id: string, email: string): Buffer {
  return createHmac("sha256", key).update(`${issued}|${id}|${email}`).digest();
}
