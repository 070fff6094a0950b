import { randomBytes } from "node:crypto";

/** A new signing secret: 32 random bytes in base64 after the prefix. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}
