import type { DEFAULT_CONNECTION_CONFIG } from "baileys";

type LibraryLog = Parameters<(typeof DEFAULT_CONNECTION_CONFIG)["makeSignalRepository"]>[1];

/** Silences Baileys. */
export const quietLog: LibraryLog = {
  level: "silent",
  child: () => quietLog,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** libsignal prints whole sessions with private keys to the console, besides throwing its errors. */
export function silenceConsole(): void {
  const say = () => undefined;
  Object.assign(globalThis.console, { info: say, warn: say, error: say });
}
