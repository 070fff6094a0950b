import { encryptionContextOf, type SecretBox } from "../../../platform/secrets/secret-box.ts";

/** Hex digits for a statement: `secret` (base64) sealed for the row of a message, whose chat may change. */
export function sealMessageSecret(
  box: SecretBox,
  instanceId: number,
  messageId: string,
  secret: string | undefined,
): string | null {
  return secret === undefined ? null : box.seal(secret, contextOf(instanceId, messageId)).toString("hex");
}

/** Returns base64; undefined if the message has no secret, or none that the key of this gateway opens. */
export function openMessageSecret(
  box: SecretBox,
  instanceId: number,
  messageId: string,
  sealed: Buffer | null,
): string | undefined {
  try {
    return sealed ? box.open(sealed, contextOf(instanceId, messageId)) : undefined;
  } catch {
    return undefined;
  }
}

function contextOf(instanceId: number, messageId: string) {
  return encryptionContextOf("message", "secret", instanceId, messageId);
}
