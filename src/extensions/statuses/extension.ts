import { z } from "zod";
import type { Extension } from "../../core/extension.ts";
import { sender } from "../../core/messages/contract.ts";
import { emptied, hasAddressIn, pseudonymousAddress } from "../../core/personal-data/personal-data.ts";
import { statusesContract } from "./contract.ts";
import { recordStatusEvent } from "./record-status-event.ts";
import { statusHandlers } from "./statuses.ts";

const text = z.string().nullable();
const about = { message_id: z.string(), by: sender, at: z.iso.datetime() };

export const statusesExtension: Extension = {
  name: "statuses",
  contract: statusesContract,
  events: {
    "status.received": {
      when: "a person posts a story that the instance may see; it is stored nowhere else",
      data: z.object({
        ...about,
        type: z.string(),
        text,
        caption: text,
        media: z
          .object({ mime_type: z.string(), size: z.number(), seconds: z.number().nullable() })
          .nullable(),
      }),
    },
    "status.viewed": {
      when: "a person sees a story that the gateway has sent, once per person",
      data: z.object(about),
    },
  },
  tables: {
    status_view: {
      plain: "id account_id instance_id status viewed_at",
      personal: {
        jid: pseudonymousAddress("conversations"),
        lid: pseudonymousAddress("conversations"),
        phone: pseudonymousAddress("conversations"),
      },
      foundBy: "instance_id",
      ofPerson: hasAddressIn("jid", "lid", "phone"),
      knownBy: "jid phone",
      exportedAs: "statusViews",
    },
    status_update: {
      plain: "id account_id instance_id message_id type audience sent_at created_at",
      personal: { content: emptied("messages") },
      foundBy: "instance_id",
      exportedAs: "statuses",
    },
  },
  hooks: ({ db, engine }) => ({
    async networkFollower(instance, event, conversations) {
      if (event.type === "status_received" || event.type === "status_viewed")
        await recordStatusEvent({ db, engine, conversations }, instance, event);
    },
  }),
  open: ({ requestDb: db, config, outgoing, media, numbers, findCountry, runOperation }) => ({
    handlers: statusHandlers({
      db,
      outgoing,
      maxBytes: config.mediaMaxBytes,
      converter: media.converter,
      numbers,
      findCountry,
      runOperation,
    }),
  }),
};
