const MOST_ROWS = 10_000;

interface Page<Row> {
  data: Row[];
  pagination: { next_cursor: string | null };
}

/** Reads rows up to a limit; `isCut` if there are more. */
export async function readAllPages<Row>(
  read: (cursor: { cursor?: string }) => Promise<Page<Row>>,
): Promise<{ rows: Row[]; isCut: boolean }> {
  const rows: Row[] = [];
  for (let cursor: { cursor?: string } = {}; ; ) {
    const { data, pagination } = await read(cursor);
    rows.push(...data);
    if (pagination.next_cursor === null) return { rows, isCut: false };
    if (rows.length >= MOST_ROWS) return { rows: rows.slice(0, MOST_ROWS), isCut: true };
    cursor = { cursor: pagination.next_cursor };
  }
}
