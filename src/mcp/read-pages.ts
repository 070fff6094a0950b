import type { ReportProgress } from "./with-progress.ts";

/** More rows are too much for an assistant to read at once. */
const MOST_PAGES = 25;
const MOST_CHARACTERS = 1_000_000;
/** The largest page of the API. */
const ROWS_PER_PAGE = 200;

interface Listed<Row> {
  data: Row[];
  pagination: { has_more: boolean; next_cursor: string | null };
}

/** 200 messages, whose texts may be long. */
export const NEWEST_MESSAGES = { rows: 50, pages: 4 };

/**
 * Reads a whole list, up to 5,000 rows (unless it says otherwise) or about a million characters; `pagination` of the result says whether there
 * are more.
 */
export async function readPages<Row, Answer extends Listed<Row>>(
  list: (page: { limit: number; cursor: string | undefined }) => Promise<Answer & Listed<Row>>,
  report: ReportProgress,
  { rows: limit, pages: most } = { rows: ROWS_PER_PAGE, pages: MOST_PAGES },
): Promise<Answer> {
  const rows: Row[] = [];
  let characters = 0;
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await list({ limit, cursor });
    rows.push(...page.data);
    characters += JSON.stringify(page.data).length;
    const { has_more, next_cursor } = page.pagination;
    const isFull = pages === most || characters > MOST_CHARACTERS;
    if (!has_more || next_cursor === null || isFull) return { ...page, data: rows };
    report(`${rows.length} rows are read.`);
    cursor = next_cursor;
  }
}
