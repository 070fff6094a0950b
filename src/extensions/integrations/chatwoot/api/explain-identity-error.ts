import type { ChatwootApi } from "./chatwoot-api.ts";
import type { ChatwootError } from "./chatwoot-error.ts";

export const IDENTITY_CHANGED =
  "Chatwoot rejects new contacts, because the inbox has another HMAC token than before. Save the " +
  "integration again.";

/**
 * Chatwoot returns an ordinary 500 for a wrong contact signature: only the inbox shows that its token
 * changed.
 */
export async function explainIdentityError(
  chatwoot: ChatwootApi,
  hmacToken: string | undefined,
  refusal: ChatwootError,
): Promise<ChatwootError> {
  if (refusal.status_code !== 500) return refusal;
  const inbox = await chatwoot.inbox();
  if (!inbox.ok || (inbox.value.hmac_token || undefined) === hmacToken) return refusal;
  return { ...refusal, reason: "identity", text: IDENTITY_CHANGED };
}
