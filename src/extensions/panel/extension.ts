import type { Extension } from "../../core/extension.ts";
import { PANEL_PATH, panelRoute } from "./panel.ts";

export const panelExtension: Extension = {
  name: "panel",
  needs: ["public-pages"],
  hooks: ({ config }) => (config.panel ? { homePath: `${PANEL_PATH}/` } : {}),
  open: ({ config }) => (config.panel ? { files: panelRoute() } : {}),
};
