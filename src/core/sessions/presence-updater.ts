import type { Engine } from "../../engine/engine.ts";
import type { Session } from "../../network/driver.ts";
import type { LiveSettings } from "./live-settings.ts";

export interface PresenceUpdaterOptions {
  engine: Pick<Engine, "subscribe">;
  live: LiveSettings;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
}

export interface PresenceUpdater {
  /** Sets the presence that a new session shows after each connection. */
  opened(instanceId: number, isOnline: boolean): void;
  connected(instanceId: number): void;
}

/** Shows an account as online or offline when its setting changes, and after each connection. */
export function createPresenceUpdater({
  engine,
  live,
  connectedSession,
}: PresenceUpdaterOptions): PresenceUpdater {
  const shown = new Map<number, { opened: boolean; now: boolean }>();

  async function updatePresence(id: number): Promise<void> {
    const session = connectedSession(id);
    const state = shown.get(id);
    if (!session || !state) return;
    const { mark_online } = await live.get(id);
    if (state.now === mark_online) return;
    state.now = mark_online;
    await session.setPresence?.(mark_online ? "available" : "unavailable");
  }

  // An update that fails now is repeated with the next change or connection.
  const updateQuietly = (id: number) => void updatePresence(id).catch(() => {});
  engine.subscribe("instance", (key) => {
    if (shown.has(Number(key))) updateQuietly(Number(key));
  });

  return {
    opened: (id, isOnline) => void shown.set(id, { opened: isOnline, now: isOnline }),
    connected(id) {
      const state = shown.get(id);
      if (state) state.now = state.opened;
      updateQuietly(id);
    },
  };
}
