// Baileys 7.0.0-rc14 logs keys and whole messages.
// Not reported upstream.
import type { DEFAULT_CONNECTION_CONFIG } from "baileys";

export type BaileysLogger = Parameters<(typeof DEFAULT_CONNECTION_CONFIG)["makeSignalRepository"]>[1];

const nothing = () => {};

/** Discards the log of Baileys; everything relevant arrives as events. */
export const silentBaileysLogger: BaileysLogger = {
  level: "silent",
  child: () => silentBaileysLogger,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};
