const GROUPS = 16;

const groupOf = (n: number) => `act ${n}`;

/** All job groups of actions on messages and phone calls; few, because paused lanes list them all. */
export const ACTION_GROUPS: readonly string[] = Array.from({ length: GROUPS }, (_, n) => groupOf(n));

/** The job group of a chat's actions: they run sequentially and do not wait for the chat's sends. */
export function actionGroup(jid: string): string {
  let hash = 0;
  for (let i = 0; i < jid.length; i++) hash = (hash * 31 + jid.charCodeAt(i)) % 65_521;
  return groupOf(hash % GROUPS);
}
