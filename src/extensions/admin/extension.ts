import type { Extension } from "../../core/extension.ts";
import { adminHandlers } from "./admin.ts";
import { adminContract } from "./contract.ts";

export const adminExtension: Extension = {
  name: "admin",
  needs: ["backups"],
  contract: adminContract,
  open: ({ config, requestDb: db, engine }) => ({
    handlers: adminHandlers({ db, engine, closesThisMachine: config.localTargets === "auto" }),
  }),
};
