import type { Extension } from "../../core/extension.ts";
import { connectInstance } from "../../core/sessions/sessions.ts";
import { createSandboxControl } from "../../network/sandbox/sandbox-control.ts";
import { createSandboxDriver } from "../../network/sandbox/sandbox-driver.ts";
import { findPicture } from "../../network/sandbox/world/picture-store.ts";
import { sandboxContract } from "./contract.ts";
import { createMediaFetcher } from "./create-media-fetcher.ts";
import { sandboxHandlers } from "./sandbox.ts";

export const sandboxExtension: Extension = {
  name: "sandbox",
  contract: sandboxContract,
  hooks: ({ config, sandbox: { pool }, log }) => ({
    network: createSandboxDriver({
      pool,
      log,
      pictureBase: `${config.baseUrl}/sandbox/pictures/`,
      timing: { openPerSecond: config.loginsPerSecond },
    }),
    networkData: (account_id) => createSandboxControl(pool, account_id),
  }),
  open: ({ config, requestDb: db, sandbox: { pool }, engine, outgoing, findCountry }) => ({
    handlers: sandboxHandlers({
      db,
      sandbox: config.sandbox,
      controlOf: (account_id) => createSandboxControl(pool, account_id),
      findPicture: (id) => findPicture(pool, id),
      async connectInstance(id) {
        const { signal } = new AbortController();
        await connectInstance({ db, engine, findCountry }, id, { wait_seconds: 0, signal });
      },
      fetchMedia: createMediaFetcher(outgoing, config.mediaMaxBytes),
    }),
  }),
};
