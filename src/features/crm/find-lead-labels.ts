import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import type { Reach } from "../../platform/reach.ts";
import type { crmContract } from "./contract.ts";
import { isReachedLead } from "./lead-row.ts";

type LeadLabels = OutputOf<typeof crmContract.listLeadLabels>;
type LabelCount = LeadLabels["tags"][number];

const MOST_LABELS = 200;

/** The stages, statuses and tags that leads have, with the number of leads of each; the most used first. */
export async function findLeadLabels(db: Db, reach: Reach): Promise<LeadLabels> {
  const count = async (name: ReturnType<typeof sql<string>>, from: ReturnType<typeof sql>) => {
    const { rows } = await sql<LabelCount>`
      select ${name} as name, count(*) as count from ${from}
      where ${isReachedLead(reach)} and ${name} is not null
      group by 1 order by count desc, name limit ${MOST_LABELS}`.execute(db);
    return rows;
  };
  return {
    stages: await count(sql<string>`kanban_status`, sql`lead`),
    statuses: await count(sql<string>`status`, sql`lead`),
    tags: await count(sql<string>`tag`, sql`lead, unnest(tags) as tag`),
  };
}
