import type { BotInput, TypingEmulation } from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** A conversation with a bot that is under way. */
export interface BotSession {
  session_id: string;
  /** Which bot it is with: another one knows nothing of it. */
  bot: string;
  /** When anything last happened in it. */
  at: string;
  /** What the bot waits for; absent when it is not known. */
  input?: BotInput | undefined;
  /** The bot waits for somebody else than the user, and would take the user's words for theirs. */
  is_listening?: boolean;
  typing?: TypingEmulation | undefined;
}

/** What is kept of a chat that a bot serves. */
export interface BotChat {
  session: BotSession;
  /** A person has taken over until then. */
  paused_until: string;
  /** The flow is over, and nothing starts it before then. */
  closed_until: string;
}

export function botIdOf({ base_url, public_id }: TypebotConfig): string {
  return `${base_url} ${public_id}`;
}

/** The session that goes on, if there is one: of this bot, and not expired. */
export function currentSession(
  { session }: Partial<BotChat>,
  config: TypebotConfig,
  now: Date,
): BotSession | undefined {
  if (!session || session.bot !== botIdOf(config)) return undefined;
  const expiresAt = new Date(session.at).getTime() + config.session_expiry_minutes * 60_000;
  return expiresAt > now.getTime() ? session : undefined;
}

export function isBefore(now: Date, until: string | undefined): boolean {
  return until !== undefined && now.getTime() < new Date(until).getTime();
}

export function inMinutes(now: Date, minutes: number): string {
  return new Date(now.getTime() + minutes * 60_000).toISOString();
}
