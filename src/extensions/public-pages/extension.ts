import type { Extension } from "../../core/extension.ts";
import { publicPagesContract } from "./contract.ts";
import { NOT_FOUND_PAGE } from "./home-page.ts";
import { publicPagesHandlers } from "./public-pages.ts";

export const publicPagesExtension: Extension = {
  name: "public-pages",
  contract: publicPagesContract,
  open: ({ dataDir, describeApi, eventPayloads, hooks }) => ({
    handlers: publicPagesHandlers(describeApi, {
      dataDir,
      recorded: { payloads: eventPayloads, formats: hooks.webhookFormats },
      ...(hooks.homePath !== undefined && { panelPath: hooks.homePath }),
    }),
    notFoundPage: NOT_FOUND_PAGE,
  }),
};
