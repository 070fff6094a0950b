import { createCipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Seals as gateways did before sealed values named their place: format 1. */
export function sealUnbound(secretKey: string, text: string): Buffer {
  const derive = (info: string, bytes: number) => Buffer.from(hkdfSync("sha256", secretKey, "", info, bytes));
  const header = Buffer.concat([Buffer.of(1), derive("waygate key id 1", 4)]);
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const key = createHmac("sha256", derive("waygate secret box 1", 32)).update(salt).digest();
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(header);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([header, salt, iv, cipher.getAuthTag(), body]);
}
