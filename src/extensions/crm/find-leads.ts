import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import type { Reach } from "../../platform/reach.ts";
import { isAmongReachedLeads, type LeadRow } from "./lead-row.ts";

export interface LeadFilter {
  q?: string;
  tag?: string;
  status?: string;
  kanban_status?: string;
  opted_out?: boolean;
}

/** Newest first, below an id. */
export function findLeads(
  db: Db,
  reach: Reach,
  { q, tag, status, kanban_status, opted_out }: LeadFilter,
  before: number | undefined,
  limit: number,
): Promise<LeadRow[]> {
  let query = db
    .selectFrom("lead")
    .selectAll()
    .where(isAmongReachedLeads(reach))
    .where(containsText(q, sql`name, email, phone`));
  if (before !== undefined) query = query.where("id", "<", before);
  if (tag !== undefined) query = query.where(sql<boolean>`tags @> array[${tag}::text]`);
  if (status !== undefined) query = query.where("status", "=", status);
  if (kanban_status !== undefined) query = query.where("kanban_status", "=", kanban_status);
  if (opted_out !== undefined) query = query.where("opted_out_at", opted_out ? "is not" : "is", null);
  return query.orderBy("id", "desc").limit(limit).execute();
}
