import type { Config } from "../../platform/config/config.ts";
import { Secret } from "../../platform/secrets/secret.ts";
import { maskUrl } from "../../platform/urls/mask-url.ts";

/** The settings that a backup records, without secrets: every reader of the database may see them. */
export function toBackupSettings(config: Config): Record<string, unknown> {
  const open = Object.entries(config).filter(
    ([name, value]) => !(value instanceof Secret) && name !== "ownerEmail" && name !== "faultPoint",
  );
  return Object.fromEntries(open.map(([name, value]) => [name, isUrl(value) ? maskUrl(value) : value]));
}

function isUrl(value: unknown): value is string {
  return typeof value === "string" && value.includes("://");
}
