// Baileys 7.0.0-rc14 adds a wrong reporting token to every message with a secret: it is computed from padded bytes.
// Not reported upstream; whatsmeow sends no token unless SendReportingTokens is set.
import type { proto } from "baileys";

/** A kind of message that has no token. It is inherited, so that Baileys sees it and does not encode it. */
const WITHOUT_TOKEN = { encEventResponseMessage: {} };

export function omitReportingToken(message: proto.IMessage): proto.IMessage {
  return Object.assign(Object.create(WITHOUT_TOKEN), message);
}
