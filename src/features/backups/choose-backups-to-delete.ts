const RETAINED = { day: 7, week: 4, month: 6 } as const;
const DAY_MS = 86_400_000;

export interface DatedBackup {
  id: string;
  created_at: Date;
}

/**
 * Keeps all backups of the last 24 hours, and the newest of each of the last 7 days, 4 weeks and 6 months
 * with a backup. Days are UTC; weeks begin on Monday.
 */
export function chooseBackupsToDelete<Backup extends DatedBackup>(
  backups: readonly Backup[],
  now: Date,
): Backup[] {
  const newestFirst = [...backups].sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
  const retained = new Set<Backup>();
  for (const [span, count] of Object.entries(RETAINED)) {
    const firsts = new Map<string, Backup>();
    for (const backup of newestFirst) {
      const name = nameOf(backup.created_at, span as keyof typeof RETAINED);
      if (!firsts.has(name)) firsts.set(name, backup);
    }
    for (const backup of [...firsts.values()].slice(0, count)) retained.add(backup);
  }
  const isYoung = ({ created_at }: Backup) => created_at.getTime() > now.getTime() - DAY_MS;
  return newestFirst.filter((backup) => !retained.has(backup) && !isYoung(backup));
}

function nameOf(at: Date, span: keyof typeof RETAINED): string {
  if (span === "day") return at.toISOString().slice(0, 10);
  if (span === "month") return at.toISOString().slice(0, 7);
  // 1 January 1970 was a Thursday.
  return String(Math.floor((at.getTime() / DAY_MS + 3) / 7));
}
