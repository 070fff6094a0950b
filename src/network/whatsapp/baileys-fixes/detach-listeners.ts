import type { WASocket } from "baileys";

/** What the client library does with an event; most of its events bring one node. */
export type BaileysListener = (...args: unknown[]) => unknown;

/** Answers what listens to an event of the client library and listens no more, so that ours can stand in front of it. */
export function detachListeners(ws: WASocket["ws"], event: string | symbol): BaileysListener[] {
  const handles = ws.listeners(event) as BaileysListener[];
  ws.removeAllListeners(event);
  return handles;
}
