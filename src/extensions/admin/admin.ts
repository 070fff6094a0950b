import { sql } from "kysely";
import { type AccountScope, isInScope, requireUser, resellerOf } from "../../core/accounts/accounts.ts";
import { readQueues } from "../../core/health/health.ts";
import type { Db } from "../../platform/db/database.ts";
import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { readHeldJobs } from "../backups/backups.ts";
import type { adminContract } from "./contract.ts";
import { listLogs } from "./list-logs.ts";
import { readAccountOverview } from "./read-account-overview.ts";
import { type MonitorDeps, readMonitor } from "./read-monitor.ts";

interface Counts {
  accounts: number;
  active_accounts: number;
  resellers: number;
  customers: number;
  users: number;
  instances: number;
  connected_instances: number;
  messages_month: number;
  failed_webhooks: number;
}

interface MonitorRequest {
  input: InputOf<typeof adminContract.adminMonitor>;
  caller: Caller;
}

interface AdminDeps extends MonitorDeps {
  /** Whether outgoing requests may go to this machine only while one account exists. */
  closesThisMachine: boolean;
}

/** Monitoring for owner and operator; a reseller sees only itself and its customers. */
export function adminHandlers(deps: AdminDeps): Handlers<typeof adminContract> {
  const monitor = async ({ input, caller }: MonitorRequest) => {
    const { report, pagination } = await readMonitor(deps, resellerOf(caller), input);
    return new OkResponse(report, { beside: { pagination } });
  };
  return {
    async adminOverview({ caller }) {
      const overview = await readOverview(deps.db, resellerOf(caller));
      const isSole = resellerOf(caller) === undefined && overview.accounts === 1;
      return { ...overview, next_account_closes_this_machine: deps.closesThisMachine && isSole };
    },
    async accountOverview({ caller }) {
      const user = requireUser(caller);
      return readAccountOverview(deps.db, user, { isAdministrator: user.role !== "agent" });
    },
    adminMonitor: monitor,
    adminMonitorAsPublished: monitor,
    async listLogs({ input, caller }) {
      const { rows, pagination } = await listLogs(deps.db, resellerOf(caller), input);
      return new OkResponse(rows, { beside: { pagination } });
    },
  };
}

/** Numbers for the start page of the administration. */
async function readOverview(db: Db, scope: AccountScope) {
  const seen = isInScope(scope, sql`account_id`);
  const { rows } = await sql<Counts>`
    select a.*, i.*,
      (select count(*) from account_user where ${seen}) as users,
      (select coalesce(sum(sent), 0)::bigint from monthly_message_count
        where ${seen} and month = date_trunc('month', now() at time zone 'utc')::date) as messages_month,
      (select count(*) from webhook where removed_at is null and (failing_since is not null or disabled_at is not null)
        and ${seen}) as failed_webhooks
    from (
      select count(*) as accounts, count(*) filter (where account_type = 'reseller') as resellers,
        count(*) filter (where account_type = 'client') as customers,
        count(*) filter (where account_state(account) in ('active', 'trial')) as active_accounts
      from account where ${isInScope(scope, sql`id`)}
    ) a, (
      select count(*) as instances, count(*) filter (where status = 'connected') as connected_instances
      from instance where removed_at is null and ${seen}
    ) i`.execute(db);
  const [counts] = rows;
  if (!counts) throw new Error("count(*) returned no row");
  const heldJobs = scope === undefined ? await readHeldJobs(db) : undefined;
  const { sends = 0, deliveries = 0, others = 0 } = heldJobs ?? {};
  return { ...counts, queue: sum(await readQueues(db, scope)), held_back: { sends, deliveries, others } };
}

function sum(queues: Awaited<ReturnType<typeof readQueues>>) {
  const ages = queues.flatMap(({ oldest_due_seconds: age }) => (age === null ? [] : [age]));
  return {
    waiting: queues.reduce((all, { waiting }) => all + waiting, 0),
    due: queues.reduce((all, { due }) => all + due, 0),
    oldest_due_seconds: ages.length === 0 ? null : Math.max(...ages),
  };
}
