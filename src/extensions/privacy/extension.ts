import type { Extension } from "../../core/extension.ts";
import { eraseValue } from "../../core/personal-data/personal-data.ts";
import { privacyContract } from "./contract.ts";
import { failInterruptedExports } from "./export-account.ts";
import { privacyHandlers } from "./privacy.ts";
import { followErasures, privacyLane } from "./privacy-lane.ts";
import { repeatErasure } from "./request-erasure.ts";

const HOUR_MS = 3_600_000;

export const privacyExtension: Extension = {
  name: "privacy",
  needs: ["crm"],
  contract: privacyContract,
  tables: {
    data_request: {
      plain:
        "id account_id request_type scope status requested_by until progress affected due_at created_at processed_at",
      retained: { columns: "person", because: "the request needs it until its end, which deletes it" },
      personal: { ip: eraseValue("account") },
      foundBy: "account_id",
      exportedAs: "dataRequests",
      internal: "progress until",
    },
    pseudonym: { plain: "request", deleted: { columns: "subject name", parts: ["messages"] } },
  },
  hooks: ({ db, engine }) => ({ repeatErasure: (entry) => repeatErasure(db, engine, entry) }),
  open(parts) {
    const { db, requestDb, engine, box, findCountry, hooks, media, conversations, clearDeliveries } = parts;
    const sweepFiles = (): Promise<void> => media.sweep();
    const clearCaches = (): void => {
      conversations.clearCache();
      clearDeliveries();
    };
    followErasures(engine, { sweepFiles, clearCaches });
    return {
      handlers: privacyHandlers({ db: requestDb, engine, box, findCountry }),
      lanes: [
        privacyLane({
          db,
          engine,
          sweepFiles,
          deleteOnNetwork: async (account_id, phones, messages) => {
            await hooks.networkData?.(account_id).deleteCopies(phones, messages);
          },
          deletePeopleOnNetwork: async (account_id, person) => {
            const data = hooks.networkData?.(account_id);
            await (person ? data?.deletePerson(person) : data?.deletePeople());
          },
        }),
      ],
      recurringJobs: [{ name: "lost-exports", everyMs: HOUR_MS, run: () => failInterruptedExports(db) }],
    };
  },
};
