import { useEffect, useRef } from "react";
import { gateway } from "../../api/gateway.ts";
import type { Chat } from "./conversation-queries.ts";

/** The network shows "typing" this long; it is told again at most this often. */
const SHOWN_MS = 8_000;
const REPEAT_MS = 6_000;

/** Shows the contact that somebody is writing. A failure is of no consequence. */
export function useTyping({ instance_id: id, jid, id: known }: Chat, isConnected: boolean) {
  const told = useRef(0);
  const tell = (presence: "typing" | "paused", more: { duration_ms?: number } = {}) =>
    void gateway.setPresence({ id, jid, presence, ...more }).catch(() => {});
  const stop = () => {
    if (told.current === 0) return;
    told.current = 0;
    tell("paused");
  };
  const latest = useRef(stop);
  latest.current = stop;
  useEffect(() => () => latest.current(), []);
  const note = (text: string) => {
    if (!isConnected || known === 0) return;
    if (text === "") return stop();
    if (Date.now() - told.current < REPEAT_MS) return;
    told.current = Date.now();
    tell("typing", { duration_ms: SHOWN_MS });
  };
  return { note, stop };
}
