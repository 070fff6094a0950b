import type { DEFAULT_CONNECTION_CONFIG } from "baileys";

export type BaileysLogger = Parameters<(typeof DEFAULT_CONNECTION_CONFIG)["makeSignalRepository"]>[1];

const nothing = () => {};

/** The client library logs keys and whole messages, so none of it is kept; what matters arrives as events. */
export const silentBaileysLogger: BaileysLogger = {
  level: "silent",
  child: () => silentBaileysLogger,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};
