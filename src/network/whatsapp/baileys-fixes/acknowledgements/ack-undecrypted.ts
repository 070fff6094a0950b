// Baileys 7.0.0-rc14 refuses a message that it cannot decrypt, after it asked for it again; a refusal may freeze the queue.
// Upstream: https://github.com/WhiskeySockets/Baileys/pull/2779 (open) for stories; whatsmeow and whatsapp-rust refuse none.
import { NACK_REASONS } from "baileys";

/** Makes Baileys acknowledge such messages without an error, as it does for those that it reads. */
export function ackUndecrypted(): void {
  NACK_REASONS.UnhandledError = 0;
  // Of a message whose key was used before.
  NACK_REASONS.ParsingError = 0;
}
