import { sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import type { Db } from "../../platform/db/database.ts";
import { type Handlers, OkResponse, RawResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, readPage } from "../../platform/http/input/pagination.ts";
import { writePhone } from "../../platform/phone/read-phone-number.ts";
import type { SendError } from "../../platform/send-reasons.ts";
import { REPORT_COLUMNS, VARIABLE_COLUMN } from "../../platform/text/find-column-meanings.ts";
import { MOST_COLUMNS } from "../../platform/text/read-csv-texts.ts";
import { streamCsv } from "../../platform/text/stream-csv.ts";
import { NAMES_READ, namedColumns, toCsvLine } from "../../platform/text/to-csv-line.ts";
import {
  type CampaignRow,
  countTotals,
  getCampaign,
  RECIPIENT_STATUS_SQL,
  toCampaignView,
} from "./campaign-row.ts";
import type { campaignsContract } from "./contract.ts";

type ReportHandler = Handlers<typeof campaignsContract>["getCampaignReport"];

interface ReportRow {
  id: number;
  phone: string;
  status: "pending" | "queued" | "sent" | "delivered" | "read" | "failed" | "cancelled" | "skipped";
  reason: string | null;
  error: SendError | null;
  message_id: string | null;
  variables: Record<string, string>;
  planned_at: Date | null;
  decided_at: Date | null;
}

/** Totals and recipients in their order; as CSV all of them, streamed page by page. */
export function createCampaignReport(db: Db): ReportHandler {
  return async ({ input: { id, limit, cursor, format, status, q }, caller }) => {
    const campaign = await getCampaign(db, requireUser(caller), id);
    if (format === "csv") return toCsv(db, campaign, { status, q });
    const { rows, pagination } = await readPage(
      { limit, cursor },
      (page) => readRows(db, id, { after: readCursor(page.cursor) ?? 0, limit: page.limit, status, q }),
      (row) => row.id,
    );
    const totals = await countTotals(db, id);
    return new OkResponse(
      { campaign: toCampaignView(campaign), totals, recipients: rows },
      { beside: { pagination } },
    );
  };
}

interface Wanted {
  status: string | undefined;
  q: string | undefined;
}

async function readRows(
  db: Db,
  id: number,
  { after, limit, status, q }: Wanted & { after: number; limit: number },
): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    select r.id, r.phone, ${RECIPIENT_STATUS_SQL} as status, r.reason, m.error, m.message_id, r.variables, r.planned_at, r.decided_at
    from campaign_recipient r join campaign c on c.id = r.campaign_id left join message m on m.id = r.message
    where r.campaign_id = ${id} and r.id > ${after}
      ${status === undefined ? sql`` : sql`and ${RECIPIENT_STATUS_SQL} = ${status}`}
      and ${containsText(q, sql`r.phone, r.variables->>'name'`)}
    order by r.id limit ${limit}`.execute(db);
  return rows;
}

/** So that the file can be given as recipients again, with a column for all others. */
const MOST_VARIABLES = MOST_COLUMNS - REPORT_COLUMNS.length - 1;

function toCsv(db: Db, { id }: CampaignRow, wanted: Wanted): RawResponse {
  const file = streamCsv<ReportRow>(
    async () => {
      const variables = namedColumns(VARIABLE_COLUMN, await findVariables(db, id), MOST_VARIABLES);
      return {
        head: toCsvLine([...REPORT_COLUMNS, ...variables.heads]),
        toLine: (row) => toCsvLine([...cellsOf(row), ...variables.cellsOf(row.variables)]),
      };
    },
    (last, limit) => readRows(db, id, { after: last?.id ?? 0, limit, ...wanted }),
  );
  return new RawResponse("text/csv; charset=utf-8", file, 200, {
    "content-disposition": `attachment; filename="campaign-${id}.csv"`,
  });
}

/** The names of the variables that any recipient of the campaign has. */
async function findVariables(db: Db, id: number): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct variable as name from campaign_recipient, jsonb_object_keys(variables) as x (variable)
    where campaign_id = ${id} order by variable limit ${NAMES_READ}`.execute(db);
  return rows.map(({ name }) => name);
}

function cellsOf({ phone, status, reason, message_id, planned_at, decided_at }: ReportRow): string[] {
  const times = [planned_at, decided_at].map((at) => at?.toISOString() ?? "");
  return [writePhone(phone), status, reason ?? "", message_id ?? "", ...times];
}
