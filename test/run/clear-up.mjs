import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// Waits until its parent ends, stops every embedded database below a directory, and removes the directory.
const [root = ""] = process.argv.slice(2);
for await (const _ of process.stdin);

const find = (folder, name) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true })
        .filter((path) => basename(path) === name)
        .map((path) => join(folder, path))
    : [];
const outside = find(root, "postgres-is-in").map((pointer) => readFileSync(pointer, "utf8").trim());
const folders = [...outside, root];
for (const pidFile of folders.flatMap((folder) => find(folder, "postmaster.pid"))) {
  for (const until = Date.now() + 15_000; existsSync(pidFile) && Date.now() < until; await sleep(20)) {
    try {
      process.kill(Number(readFileSync(pidFile, "utf8").split("\n")[0]), "SIGINT");
    } catch {
      break;
    }
  }
}
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
