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

/** Monitoring for owner and operator; a reseller sees only itself and its customers. */
export function adminHandlers(deps: MonitorDeps): Handlers<typeof adminContract> {
  const monitor = async ({ input, caller }: MonitorRequest) => {
    const { report, pagination } = await readMonitor(deps, resellerOf(caller), input);
    return new OkResponse(report, { beside: { pagination } });
  };
  return {
    adminOverview: ({ caller }) => readOverview(deps.db, resellerOf(caller)),
    async accountOverview({ caller }) {
      const { account_id, role } = requireUser(caller);
      return readAccountOverview(deps.db, { account_id, isAdministrator: role !== "agent" });
    },
    adminMonitor: monitor,
    adminMonitorAsPublished: monitor,
    async listLogs({ input, caller }) {
      const { rows, pagination } = await listLogs(deps.db, resellerOf(caller), input);
      return new OkResponse(rows, { beside: { pagination } });
    },
  };
}
