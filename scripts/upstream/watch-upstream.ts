// Compares checkouts of other projects with what scripts/upstream/upstream-watch.json has recorded of them. Uses no network.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../../src/platform/package-version.ts";
import {
  compareProject,
  formatWatchList,
  type ProjectName,
  readWatchList,
  UnreadableError,
} from "./upstream-watch.ts";

const USAGE = `npm run watch:upstream -- [--baileys <folder>] [--whatsmeow <folder>] [--zapo <folder>]
  [--whatsapp-rust <folder>] [--web <folder>] [--record]

Lists what changed since the recorded state in what docs/reliability/network.md names.
  --baileys        an unpacked npm package of Baileys, or a checkout that was built
  --whatsmeow      a checkout of whatsmeow
  --zapo           a checkout of zapo
  --whatsapp-rust  a checkout of whatsapp-rust
  --web            a folder with the scripts of web.whatsapp.com
  --record         writes the state of these folders as the new recorded state
  --list           another list than scripts/upstream/upstream-watch.json
Exit status: 0 nothing changed, 1 something changed, 2 a folder or the command line is wrong.`;

process.exitCode = run();

function run(): number {
  try {
    return watch(readOptions());
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    console.error(error.message);
    return 2;
  }
}

type Options = ReturnType<typeof readOptions>;

function readOptions() {
  const folder = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      options: {
        baileys: folder,
        whatsmeow: folder,
        zapo: folder,
        "whatsapp-rust": folder,
        web: folder,
        list: folder,
        record: { type: "boolean", default: false },
      },
    });
    if (Object.keys(values).some((name) => name !== "list" && name !== "record")) return values;
  } catch (error) {
    throw new UnreadableError(`${(error as Error).message}\n\n${USAGE}`);
  }
  throw new UnreadableError(USAGE);
}

function watch(options: Options): number {
  const path = options.list ?? join(packageRoot(), "scripts/upstream/upstream-watch.json");
  const list = readWatchList(path);
  let changed = 0;
  for (const name of Object.keys(list) as ProjectName[]) {
    const checkout = options[name];
    if (checkout === undefined) continue;
    const { changes, now } = compareProject(list[name], checkout);
    const versions = `recorded ${list[name].version}, given ${now.version}`;
    console.log(`${name} (${versions}): ${changes.length} of what is watched changed`);
    for (const { what, why } of changes) console.log(`  ${what}\n    ${why}`);
    changed += changes.length;
    list[name] = now;
  }
  if (options.record) writeFileSync(path, formatWatchList(list));
  return changed > 0 && !options.record ? 1 : 0;
}
