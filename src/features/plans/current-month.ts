/** The first day of the current month in UTC, which is the key of the message counters. */
export function currentMonth(now = new Date()): string {
  return `${now.toISOString().slice(0, 7)}-01`;
}

/** When the message counters restart. */
export function nextMonthStart(now = new Date()): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}
