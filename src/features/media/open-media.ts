import { join } from "node:path";
import type { Config } from "../../platform/config/config.ts";
import type { DataDir } from "../../platform/config/data-dir.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import { createMediaConverter, type SharedMediaConverter } from "../../platform/media/media-converter.ts";
import type { MediaStore } from "../../platform/media/media-store.ts";
import { openMediaStore } from "../../platform/media/open-media-store.ts";
import { emptyDirectory } from "../../platform/media/temporary-file.ts";
import { FileStorage } from "./file-storage.ts";
import type { MediaUrls } from "./media.ts";
import { createMediaUrls } from "./media-urls.ts";
import { startSweeping } from "./sweep-files.ts";
import { warnOfLocalStorage } from "./warn-of-local-storage.ts";

/** The files of this node, as other parts of the process use them. */
export interface NodeMedia {
  store: MediaStore;
  files: FileStorage;
  mediaUrls: MediaUrls;
  converter: SharedMediaConverter;
  /** For temporary files; empty at the start. */
  scratchDir: string;
  /** Deletes at once the files that no message references. */
  sweep(): Promise<void>;
  /** Called once the nodes know each other. */
  started(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenMediaOptions {
  config: Pick<Config, "media" | "baseUrl" | "secretKeySecond" | "ffmpeg">;
  secretKey: string;
  db: Db;
  dataDir: DataDir;
  log: Log;
}

/** Opens the media store; throws one clear Error when it cannot be used. */
export async function openMedia(options: OpenMediaOptions): Promise<NodeMedia> {
  const { config, secretKey, db, log } = options;
  const { node_id: node, path } = options.dataDir;
  const store = await openMediaStore({ address: config.media, dataDir: path, node });
  const sweeping = startSweeping({ db, store, node }, (error) =>
    log.warn({ err: error }, "unused files could not be deleted"),
  );
  const scratchDir = join(path, "scratch");
  await emptyDirectory(scratchDir);
  const secondKey = config.secretKeySecond?.reveal();
  return {
    store,
    files: new FileStorage({ db, store, node }),
    mediaUrls: createMediaUrls({ secretKey, secondKey, baseUrl: config.baseUrl }),
    converter: createMediaConverter({ ffmpeg: config.ffmpeg, scratchDir }),
    scratchDir,
    sweep: () => sweeping.now(),
    started: () => warnOfLocalStorage({ db, store, node }, log),
    close: () => sweeping.stop(),
  };
}
