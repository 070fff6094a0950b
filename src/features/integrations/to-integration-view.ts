import type { IntegrationProvider } from "./integration-provider.ts";
import type { Integration, IntegrationRow, QueuedIntegration } from "./integration-row.ts";
import { maskSecret } from "./mask-secret.ts";

/** The integration as the API shows it. */
export function toIntegrationView(
  provider: IntegrationProvider,
  row: Integration & Pick<QueuedIntegration, "waiting" | "paused_chats">,
) {
  const masked = provider.secrets.flatMap((name) => {
    const secret = row.secrets[name];
    return secret === undefined ? [] : [[name, maskSecret(secret)]];
  });
  const shown = Object.entries(row.config).filter(([name]) => row.secrets[name] === undefined);
  return {
    ...row,
    config: Object.fromEntries([...shown, ...masked]),
    has_token: row.secrets[provider.secrets[0] ?? ""] !== undefined,
    last_error_is_past: isPast(row),
    paused_until: row.paused_until && row.paused_until > new Date() ? row.paused_until : null,
  };
}

type LastResponses = Pick<IntegrationRow, "status" | "last_error_at" | "last_success_at">;

function isPast({ status, last_error_at, last_success_at }: LastResponses): boolean {
  return (
    status === "ok" && last_error_at !== null && last_success_at !== null && last_success_at > last_error_at
  );
}
