import { sql } from "kysely";
import type { EventSubscriber } from "../../../core/statement-hooks.ts";

export const integrationSubscriber: EventSubscriber = {
  isSubscribed: sql`exists (
    select from integration where instance_id = d.instance_id and enabled and d.event = any(event_names))`,
  addJobs: sql`
    insert into job (lane, prio, pos, grp, ref)
    select g.lane, 1, n.sequence, n.chat,
      jsonb_build_object('do', 'event', 'integration', g.id, 'event_id', n.event_id, 'at', n.at)
    from numbered n join integration g on g.instance_id = n.instance_id
    where not n.is_undelivered and g.enabled and n.event = any(g.event_names) and not (g.exclude && n.tag_list)
    order by n.ord
    returning lane`,
  isNeeded: sql`e.event_id in (
    select j.ref ->> 'event_id' from integration g join job j on j.lane = g.lane where g.instance_id = i.id)`,
};
