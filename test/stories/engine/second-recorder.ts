import {
  createReportRecorder,
  type ReportRecorder,
} from "../../../src/core/messages/record/report-recorder.ts";
import { DeliveryDispatcher } from "../../../src/core/webhooks/delivery/delivery-dispatcher.ts";
import type { TestGateway } from "../../gateway.ts";

/** A change of a session. `isLost`: the session has another owner. */
export interface TestChange {
  isLost: boolean;
}

/** Records reports on a gateway's database as a second node, without leads and campaigns. */
export function createSecondRecorder({ database, gateway }: TestGateway): ReportRecorder<TestChange> {
  return createReportRecorder({
    db: database.db,
    engine: gateway.engine,
    events: new DeliveryDispatcher(gateway.engine),
    outcomeFollowers: [],
    inboundFollowers: [],
    saveChanges: async (_, changes) => changes.map(({ isLost }) => !isLost),
  });
}
