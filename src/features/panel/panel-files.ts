import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { z } from "zod";
import type { Encoding } from "../../platform/http/cached/choose-encoding.ts";

/** One file of the built panel. */
export interface PanelFile {
  /** Below the folder of the panel, with slashes. */
  path: string;
  digest: string;
  /** Has a gzip and a brotli copy; the packages contain only these. */
  isCompressed: boolean;
}

/** What the build has listed: no other file can be read, whatever a request names. */
export interface PanelFiles {
  find(path: string): PanelFile | undefined;
  read(file: PanelFile, encoding: Encoding): Promise<Buffer>;
}

const LISTING = z.array(z.object({ path: z.string(), digest: z.string(), isCompressed: z.boolean() }));

/** Reads the list of a build again when it changes; undefined: the panel is not built. Keeps no contents in memory. */
export function createPanelFilesReader(folder: string): () => Promise<PanelFiles | undefined> {
  let known: { mtimeMs: number; files: PanelFiles } | undefined;
  return async () => {
    const listing = join(folder, "files.json");
    const found = await stat(listing).catch(() => undefined);
    if (found === undefined) return undefined;
    if (known?.mtimeMs !== found.mtimeMs) {
      const rows = LISTING.parse(JSON.parse(await readFile(listing, "utf8")));
      known = { mtimeMs: found.mtimeMs, files: filesOf(folder, rows) };
    }
    return known.files;
  };
}

function filesOf(folder: string, rows: readonly PanelFile[]): PanelFiles {
  const byPath = new Map(rows.map((row) => [row.path, row]));
  return {
    find: (path) => byPath.get(path),
    async read({ path, isCompressed }, encoding) {
      const place = join(folder, path);
      if (!isCompressed) return readFile(place);
      if (encoding === "br") return readFile(`${place}.br`);
      const bytes = await readFile(`${place}.gz`);
      return encoding === "gzip" ? bytes : promisify(gunzip)(bytes);
    },
  };
}
