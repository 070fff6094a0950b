import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildDist } from "../../../test/run/build-dist.ts";
import { makeDirectory } from "../files/make-directory.ts";
import { emptyDirectory } from "../media/temporary-file.ts";
import { loadOrCreateSecretKey, openDataDir } from "./data-dir.ts";

beforeAll(buildDist);

const BUILT = fileURLToPath(new URL("../../../dist/src/platform/config/data-dir.js", import.meta.url));

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "waygate-data-dir-")));
});

afterEach(() => rm(root, { recursive: true, force: true }));

/** Renews a lock file at least as often as a process on another machine. */
const RENEW_LOCK = `const { utimesSync } = require("node:fs"); process.stdout.write("renewed");
  setInterval(() => utimesSync(process.argv[1], new Date(), new Date()), 200);`;

/** Opens the directory in another process, reports the result, and runs until it is killed. */
async function openElsewhere(path: string): Promise<{ said: string; kill(): Promise<void> }> {
  const code = `const { openDataDir } = await import(${JSON.stringify(BUILT)});
    const said = await openDataDir(${JSON.stringify(path)}).then((dir) => "held " + dir.node_id, (error) => error.message);
    process.stdout.write(said); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [data] = await once(child.stdout, "data");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { said: String(data), kill };
}

test("a new data directory is private to its user, and keeps the name of its node", async () => {
  const path = join(root, "deep", "data");
  const first = await openDataDir(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect(first).toMatchObject({ path, node_id: expect.stringMatching(/^node-[0-9a-f]{16}$/) });
  await first.release();
  const second = await openDataDir(path);
  expect(second.node_id).toBe(first.node_id);
  await second.release();
  expect(await readdir(path)).toEqual(["node-id"]);
});

test("a data directory that a living process holds is refused in one clear sentence", async () => {
  const other = await openElsewhere(root);
  expect(other.said).toMatch(/^held node-/);
  await expect(openDataDir(root)).rejects.toThrow(
    new RegExp(`^The data directory ${root} is in use by process \\d+ on .+ WAYGATE_DATA_DIR`),
  );
  await other.kill();
});

test("a data directory is refused to the process that already holds it", async () => {
  const held = await openDataDir(root);
  await expect(openDataDir(root)).rejects.toThrow(`in use by process ${process.pid} `);
  await held.release();
});

test("the lock of a killed process is taken over", async () => {
  const other = await openElsewhere(root);
  await other.kill();
  const held = await openDataDir(root);
  expect(other.said).toBe(`held ${held.node_id}`);
  await held.release();
});

test("of eight processes that find the lock of a dead process, one takes it over", async () => {
  const dead = await openElsewhere(root);
  await dead.kill();
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => openDataDir(root)));
  const held = outcomes.filter((one) => one.status === "fulfilled");
  expect(held).toHaveLength(1);
  for (const one of outcomes.filter((one) => one.status === "rejected")) {
    expect(one.reason).toMatchObject({ message: expect.stringContaining("is in use by process") });
  }
  await held[0]?.value.release();
});

test("a lock of another machine holds as long as the machine renews it", async () => {
  const claim = { pid: 1, started: "far away", host: "another-container", token: "1" };
  const lock = join(root, "lock");
  await writeFile(lock, JSON.stringify(claim));
  // In a separate process, because a pause of this one would look like its end.
  const alive = spawn(process.execPath, ["-e", RENEW_LOCK, lock], { stdio: ["ignore", "pipe", "inherit"] });
  await once(alive.stdout, "data");
  await expect(openDataDir(root)).rejects.toThrow("in use by process 1 on another-container");
  alive.kill("SIGKILL");
  await once(alive, "exit");
});

test("a lock that cannot be read is an error and causes no waiting", async () => {
  await mkdir(join(root, "lock"));
  await expect(openDataDir(root)).rejects.toThrow(/cannot be used: EISDIR\./);
});

test("a path that is a file, or cannot be created, is refused in one clear sentence", async () => {
  await writeFile(join(root, "file"), "");
  await expect(openDataDir(join(root, "file"))).rejects.toThrow(
    /cannot be used: a file has that name\. Set WAYGATE_DATA_DIR/,
  );
  await expect(openDataDir(join(root, "file", "below"))).rejects.toThrow(
    /cannot be used: a part of the path is a file/,
  );
});

test("a folder that is absent below a read-only file system is refused for that reason", async (context) => {
  const place = join(root, "read-only");
  await mkdir(place);
  const mount = (program: string, ...args: string[]) => promisify(execFile)(program, args);
  const isMounted = await mount("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", place).catch(() => undefined);
  if (isMounted === undefined) return context.skip("this user may not mount a file system");
  try {
    await expect(openDataDir(join(place, "deep", "data"))).rejects.toThrow(
      /cannot be used: the file system is read-only\. Set WAYGATE_DATA_DIR/,
    );
  } finally {
    await mount("umount", place);
  }
});

test("the secret key is created once, even by two processes at once, and is private", async () => {
  const keys = await Promise.all([1, 2, 3].map(() => loadOrCreateSecretKey(root)));
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[\w-]{43}$/);
  expect((await stat(join(root, "secret-key"))).mode & 0o777).toBe(0o600);
  expect(await loadOrCreateSecretKey(root)).toBe(keys[0]);
  expect(await readdir(root)).toEqual(["secret-key"]);
});

test("a secret key that was cut short is never replaced by a new one", async () => {
  await writeFile(join(root, "secret-key"), "\n");
  await expect(loadOrCreateSecretKey(root)).rejects.toThrow(/secret-key is empty or incomplete/);
  expect(await readFile(join(root, "secret-key"), "utf8")).toBe("\n");
});

test("a secret key that cannot be read gives one clear error line and no new key", async () => {
  await mkdir(join(root, "secret-key"));
  await expect(loadOrCreateSecretKey(root)).rejects.toThrow(/secret-key cannot be read \(EISDIR\)/);
  await chmod(root, 0o700);
});

test("a directory that the system will not create is refused at once, wherever it is configured", async () => {
  const path = "/proc/waygate/data";
  await expect(openDataDir(path)).rejects.toThrow(`The data directory ${path} cannot be used: `);
  await expect(emptyDirectory("/proc/waygate/media/arriving")).rejects.toThrow("/proc/waygate");
  await expect(makeDirectory(join(root, "a", "b"))).resolves.toBeUndefined();
  await expect(makeDirectory(join(root, "a", "b"))).resolves.toBeUndefined();
  await writeFile(join(root, "file"), "");
  await expect(makeDirectory(join(root, "file", "c"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeDirectory(join(root, "file"))).rejects.toMatchObject({ code: "EEXIST" });
});
