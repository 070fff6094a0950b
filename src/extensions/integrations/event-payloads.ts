import { z } from "zod";
import type { EventPayloads } from "../../core/event-payloads.ts";
import { integration } from "./contract.ts";

export const INTEGRATION_EVENT_PAYLOADS: EventPayloads = {
  "integration.paused": {
    when: "an integration replies too often in a chat, because another bot most likely writes there",
    data: z.object({
      provider: integration.shape.provider,
      jid: z.string(),
      phone: z.string().nullable(),
      lid: z.string().nullable(),
      reason: z.literal("reply_limit"),
      limit: z.number().int(),
      pauses: z.number().int(),
      paused_until: z.iso.datetime(),
    }),
  },
};
