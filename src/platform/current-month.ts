/** The first day of this month, UTC: what the counters of messages are kept by. */
export function currentMonth(now = new Date()): string {
  return `${now.toISOString().slice(0, 7)}-01`;
}

/** When they begin anew. */
export function nextMonthStart(now = new Date()): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
