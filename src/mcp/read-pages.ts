/** More rows are too much for an assistant to read at once. */
const MOST_PAGES = 25;
/** The largest page of the API. */
const ROWS_PER_PAGE = 200;

interface Listed<Row> {
  data: Row[];
  pagination: { has_more: boolean; next_cursor: string | null };
}

/** Reads a whole list, up to 5,000 rows; `pagination` of the result says whether there are more. */
export async function readPages<Row, Answer extends Listed<Row>>(
  list: (page: { limit: number; cursor: string | undefined }) => Promise<Answer & Listed<Row>>,
): Promise<Answer> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await list({ limit: ROWS_PER_PAGE, cursor });
    rows.push(...page.data);
    const { has_more, next_cursor } = page.pagination;
    if (!has_more || next_cursor === null || pages === MOST_PAGES) return { ...page, data: rows };
    cursor = next_cursor;
  }
}
