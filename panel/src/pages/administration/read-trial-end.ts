/** A day becomes its end in the reader's zone. Anything else goes to the gateway as typed, which says what is wrong. */
export function readTrialEnd(typed: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(typed.trim())) return typed;
  const end = new Date(`${typed.trim()}T23:59:59`);
  return Number.isNaN(end.getTime()) ? typed : end.toISOString();
}
