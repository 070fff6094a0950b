import { type Caller, type Handlers, OkResponse } from "../../platform/http/handler.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { requireUser, resellerOf } from "../accounts/accounts.ts";
import type { adminContract } from "./contract.ts";
import { listLogs } from "./list-logs.ts";
import { readAccountOverview } from "./read-account-overview.ts";
import { type MonitorDeps, readMonitor } from "./read-monitor.ts";
import { readOverview } from "./read-overview.ts";

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
