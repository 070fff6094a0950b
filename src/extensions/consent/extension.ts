import type { Extension } from "../../core/extension.ts";
import { consentHandlers } from "./consent-handlers.ts";
import { consentContract } from "./contract.ts";

export const consentExtension: Extension = {
  name: "consent",
  contract: consentContract,
  inStatements: { removal: { accountTables: ["consent", "suppression"] } },
  open: ({ requestDb: db, findCountry }) => ({ handlers: consentHandlers({ db, findCountry }) }),
};
