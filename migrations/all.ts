import type { Migration } from "kysely";
import * as engine from "./0001-engine.ts";
import * as accounts from "./0002-accounts.ts";
import * as instances from "./0003-instances.ts";
import * as messages from "./0004-messages.ts";
import * as events from "./0005-events.ts";
import * as sandbox from "./0006-sandbox.ts";
import * as mediaAndActions from "./0007-media-and-actions.ts";
import * as secretCheck from "./0008-secret-check.ts";
import * as webhookRemoval from "./0009-webhook-removal.ts";
import * as readsAndWaitingSends from "./0010-reads-and-waiting-sends.ts";
import * as whatsapp from "./0011-whatsapp.ts";

/** Every migration in order; forward only. */
export const migrations: Record<string, Migration> = {
  "0001-engine": engine,
  "0002-accounts": accounts,
  "0003-instances": instances,
  "0004-messages": messages,
  "0005-events": events,
  "0006-sandbox": sandbox,
  "0007-media-and-actions": mediaAndActions,
  "0008-secret-check": secretCheck,
  "0009-webhook-removal": webhookRemoval,
  "0010-reads-and-waiting-sends": readsAndWaitingSends,
  "0011-whatsapp": whatsapp,
};
