const GROUPS = 16;

const groupOf = (n: number) => `act ${n}`;

/** Every group in which something is done to messages or calls: few enough to be named where sends have to wait. */
export const ACTION_GROUPS: readonly string[] = Array.from({ length: GROUPS }, (_, n) => groupOf(n));

/** The group of a chat: what is done there runs one after the other, and does not wait for the chat's sends. */
export function actionGroup(jid: string): string {
  let hash = 0;
  for (let i = 0; i < jid.length; i++) hash = (hash * 31 + jid.charCodeAt(i)) % 65_521;
  return groupOf(hash % GROUPS);
}
