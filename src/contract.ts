import { accountsContract } from "./features/accounts/contract.ts";
import { eventsContract } from "./features/events/contract.ts";
import { healthContract } from "./features/health/contract.ts";
import { instancesContract } from "./features/instances/contract.ts";
import { messagesContract } from "./features/messages/contract.ts";
import { publicPagesContract } from "./features/public-pages/contract.ts";
import { sandboxContract } from "./features/sandbox/contract.ts";
import { webhooksContract } from "./features/webhooks/contract.ts";

/** Everything that the gateway can be asked, one row per route. */
export const contract = {
  ...accountsContract,
  ...instancesContract,
  ...messagesContract,
  ...eventsContract,
  ...webhooksContract,
  ...sandboxContract,
  ...healthContract,
  ...publicPagesContract,
};
