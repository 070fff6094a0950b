import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { RawResponse } from "../../platform/http/handler.ts";
import { writePhone } from "../../platform/phone/read-phone-number.ts";
import type { Reach } from "../../platform/reach.ts";
import { LEAD_COLUMNS } from "../../platform/text/find-column-meanings.ts";
import { streamCsv } from "../../platform/text/stream-csv.ts";
import { NAMES_READ, namedColumns, toCsvLine } from "../../platform/text/to-csv-line.ts";
import { CUSTOM_FIELD_COLUMN } from "./contract.ts";
import { findLeads, type LeadFilter } from "./find-leads.ts";
import type { LeadRow } from "./lead-row.ts";
import { toTagCell } from "./tag-cell.ts";

/** All leads that match a filter, newest first, streamed page by page. */
export function exportLeads(db: Db, reach: Reach, filter: LeadFilter): RawResponse {
  const file = streamCsv<LeadRow>(
    async () => {
      const fields = namedColumns(CUSTOM_FIELD_COLUMN, await findFieldNames(db, reach.account_id));
      return {
        head: toCsvLine([...LEAD_COLUMNS, ...fields.heads]),
        toLine: (row) => toCsvLine([...cellsOf(row), ...fields.cellsOf(row.custom_fields)]),
      };
    },
    (last, limit) => findLeads(db, reach, filter, last?.id, limit),
  );
  return new RawResponse("text/csv; charset=utf-8", file, 200, {
    "content-disposition": 'attachment; filename="leads.csv"',
  });
}

/** The names of the fields that any lead of the account has. */
async function findFieldNames(db: Db, accountId: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct field as name from lead, jsonb_object_keys(custom_fields) as x (field)
    where account_id = ${accountId} order by field limit ${NAMES_READ}`.execute(db);
  return rows.map(({ name }) => name);
}

function cellsOf(lead: LeadRow): string[] {
  const { opted_out_at, created_at, updated_at } = lead;
  return [
    String(lead.id),
    ...[
      lead.phone && writePhone(lead.phone),
      lead.lid,
      lead.name,
      lead.email,
      lead.status,
      lead.kanban_status,
    ].map((text) => text ?? ""),
    toTagCell(lead.tags),
    String(opted_out_at !== null),
    ...[opted_out_at, created_at, updated_at].map((at) => at?.toISOString() ?? ""),
  ];
}
