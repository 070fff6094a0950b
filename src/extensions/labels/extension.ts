import { z } from "zod";
import type { Extension } from "../../core/extension.ts";
import { eraseValue, hasAddressIn, pseudonymousAddress } from "../../core/personal-data/personal-data.ts";
import { labelsContract } from "./contract.ts";
import { labelHandlers } from "./labels.ts";
import { recordLabelChange } from "./record-label-change.ts";

const text = z.string().nullable();

export const labelsExtension: Extension = {
  name: "labels",
  contract: labelsContract,
  events: {
    "label.changed": {
      when: "a label changes, or a chat or a message gets or loses one, on the phone or by the API",
      data: z.object({
        change: z.enum(["saved", "deleted", "assigned", "removed"]),
        label: z.object({ id: z.string(), name: text, color: z.number().int().nullable() }),
        jid: text.describe("Of the chat; null: the label itself has changed."),
        lid: text,
        phone: text,
        message_id: text.describe("The message in the chat; null: the chat itself has the label."),
        by: z.enum(["api", "phone"]),
      }),
    },
  },
  tables: {
    labelled: {
      plain: "id account_id instance_id label created_at",
      personal: {
        jid: pseudonymousAddress("conversations"),
        message_id: eraseValue("conversations"),
      },
      foundBy: "instance_id",
      ofPerson: hasAddressIn("jid"),
      knownBy: "jid",
      exportedAs: "labelled",
    },
    label: {
      plain: "id account_id instance_id label_id color is_deleted updated_at",
      retained: { columns: "me", because: "it is the address of the pairing" },
      personal: { name: eraseValue("account") },
      foundBy: "instance_id",
      exportedAs: "labels",
    },
  },
  hooks: ({ db, engine }) => ({
    async networkFollower(instance, event, conversations) {
      if (event.type === "label_changed" || event.type === "label_assigned")
        await recordLabelChange({ db, engine, conversations }, instance, event, "phone");
    },
  }),
  open: ({ requestDb: db, engine, conversations, numbers, findCountry, runOperation }) => ({
    handlers: labelHandlers({ db, engine, conversations, numbers, findCountry, runOperation }),
  }),
};
