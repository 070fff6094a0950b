import type { WASocket } from "baileys";

/** A listener of Baileys; most of its events have one node as their argument. */
export type BaileysListener = (...args: unknown[]) => unknown;

/** Removes and returns the listeners that Baileys has for an event, so that ours can wrap them. */
export function detachListeners(ws: WASocket["ws"], event: string | symbol): BaileysListener[] {
  const handles = ws.listeners(event) as BaileysListener[];
  ws.removeAllListeners(event);
  return handles;
}
