// Writes a gzip and a brotli copy beside each text file of a built panel (first argument: its folder), and `files.json`,
// the list of what the gateway serves. The list comes last: its time says that all is complete.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const TEXTS = new Set([".html", ".js", ".css", ".svg", ".md"]);
/** For the build alone. */
const NOT_SERVED = new Set(["manifest.json", "files.json"]);

const folder = process.argv[2];
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/\.(gz|br)$/.test(entry.name))
  .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll(sep, "/"))
  .filter((path) => !NOT_SERVED.has(path))
  .sort()
  .map(compress);
const draft = join(folder, `.files-${process.pid}.json`);
writeFileSync(draft, `${JSON.stringify(files, undefined, 1)}\n`);
renameSync(draft, join(folder, "files.json"));

function compress(path) {
  const bytes = readFileSync(join(folder, path));
  const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  const isText = TEXTS.has(extname(path));
  if (isText) {
    writeFileSync(join(folder, `${path}.gz`), gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(bytes, { params }));
  }
  return { path, digest, isCompressed: isText };
}
