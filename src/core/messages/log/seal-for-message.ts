import { encryptionContextOf, type SecretBox } from "../../../platform/secrets/secret-box.ts";

/** The sealed columns of a message: its secret, and the bytes of one that the gateway cannot read; both in base64. */
type SealedColumn = "secret" | "raw";

/** Hex digits for a statement: the value sealed for the row of a message, whose chat may change. */
export function sealForMessage(
  box: SecretBox,
  column: SealedColumn,
  instanceId: number,
  messageId: string,
  value: string | undefined,
): string | null {
  if (value === undefined) return null;
  return box.seal(value, encryptionContextOf("message", column, instanceId, messageId)).toString("hex");
}

/** Undefined if the message has no such value, or none that the key of this gateway opens. */
export function openOfMessage(
  box: SecretBox,
  column: SealedColumn,
  instanceId: number,
  messageId: string,
  sealed: Buffer | null,
): string | undefined {
  try {
    return sealed
      ? box.open(sealed, encryptionContextOf("message", column, instanceId, messageId))
      : undefined;
  } catch {
    return undefined;
  }
}
