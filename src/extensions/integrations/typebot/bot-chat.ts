import type { BotInput, TypingEmulation } from "./typebot-api.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** An active conversation with a bot. */
export interface BotSession {
  session_id: string;
  /** The bot of the session; another bot does not know the session. */
  bot: string;
  /** Time of its last activity. */
  at: string;
  /** The input that the bot waits for; absent if unknown. */
  input?: BotInput | undefined;
  /** The bot waits for an outside call, and would treat the user's text as its result. */
  is_listening?: boolean;
  typing?: TypingEmulation | undefined;
}

/** The stored data of a chat with a bot. */
export interface BotChat {
  session: BotSession;
  /** A person handles the chat until then. */
  paused_until: string;
  /** The flow has ended, and nothing starts it before then. */
  closed_until: string;
}

export function botIdOf({ base_url, public_id }: TypebotConfig): string {
  return `${base_url} ${public_id}`;
}

/** The active session, if there is one: of this bot, and not expired. */
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
