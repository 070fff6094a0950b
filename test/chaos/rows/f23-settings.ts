import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { E2eStory } from "../../e2e/e2e-story.ts";
import { makeScratchDir } from "../../run/scratch-dir.ts";
import { launchGateway } from "../../run/spawn-gateway.ts";
import type { ChaosRow, Round } from "../chaos-row.ts";

const RANDOM_KEY = "hS2kQ9vYxW4mTz7LrB1nCf8JpD5gEu3A";

interface Case {
  name: string;
  settings: Record<string, string>;
  /** The expected message. */
  says: RegExp;
  /** Prepares the data directory. */
  prepare?(dataDir: string): Promise<void>;
}

const EMBEDDED = { DATABASE_URL: "", WAYGATE_SECRET_KEY: "" };
const KEY = "WAYGATE_SECRET_KEY";
const TOKEN = "WAYGATE_ADMIN_TOKEN";

const CASES: readonly Case[] = [
  { name: "no secret key", settings: { [KEY]: "" }, says: /WAYGATE_SECRET_KEY is required/ },
  { name: "a short secret key", settings: { [KEY]: "x9k2" }, says: /WAYGATE_SECRET_KEY must be 32/ },
  {
    name: "an example's secret key",
    settings: { [KEY]: "change-me-change-me-change-me-please" },
    says: /_SECRET_KEY must/,
  },
  { name: "a secret key of one letter", settings: { [KEY]: "a".repeat(40) }, says: /_SECRET_KEY must/ },
  { name: "a short admin token", settings: { [TOKEN]: "x9k2" }, says: /WAYGATE_ADMIN_TOKEN must have 32/ },
  {
    name: "an example's admin token",
    settings: { [TOKEN]: "waygate-admin-token-change-me-please" },
    says: /WAYGATE_ADMIN_TOKEN/,
  },
  {
    name: "a short cluster secret",
    settings: { WAYGATE_CLUSTER_SECRET: "x" },
    says: /WAYGATE_CLUSTER_SECRET must/,
  },
  {
    name: "the same key for backups",
    settings: { WAYGATE_BACKUP_KEY: RANDOM_KEY, [KEY]: RANDOM_KEY },
    says: /must not be the same/,
  },
  {
    name: "a setting that does not exist",
    settings: { WAYGATE_SECRET: "x" },
    says: /WAYGATE_SECRET is not a setting/,
  },
  {
    name: "a key file that cannot be read",
    settings: EMBEDDED,
    says: /secret-key cannot be read/,
    prepare: (dataDir) => mkdir(join(dataDir, "secret-key"), { recursive: true }).then(() => {}),
  },
  {
    name: "a key file that is cut short",
    settings: EMBEDDED,
    says: /secret-key is empty or incomplete/,
    prepare: (dataDir) => writeFile(join(dataDir, "secret-key"), "abc\n"),
  },
  {
    name: "another key than the first node's",
    settings: { [KEY]: RANDOM_KEY },
    says: /is not the one that the secrets/,
  },
];

/** F23: missing, short, well-known and foreign secrets. The gateway refuses to start and says why in one line. */
export const f23: ChaosRow = {
  id: "F23",
  fault: "missing, short, known and foreign secrets",
  async run(round) {
    const story = await round.story();
    // The first node encrypts its secrets with this key.
    await story.start({ NODE_ENV: "production" });
    const breaches: string[] = [];
    for (const one of CASES) breaches.push(...(await refuse(round, story, one)));
    const isUp = (await fetch(`${story.gateway.url}/health/live`)).status === 200;
    return {
      measured: {
        "starts refused with one clear line": `${CASES.length - breaches.length} of ${CASES.length}`,
      },
      breaches: [...breaches, ...(isUp ? [] : ["the first node suffered from them"])],
    };
  },
};

async function refuse(
  round: Round,
  story: E2eStory,
  { name, settings, says, prepare }: Case,
): Promise<string[]> {
  const { path, remove } = await makeScratchDir("waygate-f23-");
  round.afterwards(remove);
  await prepare?.(path);
  const gateway = launchGateway({
    ...story.settings,
    NODE_ENV: "production",
    WAYGATE_DATA_DIR: path,
    ...settings,
  });
  const started = gateway.listening.then(() => gateway.kill());
  const { code } = await Promise.race([gateway.exited, started.catch(() => gateway.exited)]);
  const output = gateway.output().trim();
  const lines = output.split("\n").filter((line) => !line.startsWith("Waygate cannot start"));
  const values = Object.values(settings).filter((value) => value.length > 8);
  const wrong = [
    code !== 1 && `it ended with ${code}`,
    !says.test(output) && `it said: ${output.slice(0, 200)}`,
    lines.length !== 1 && `it said ${lines.length} lines`,
    values.some((value) => output.includes(value)) && "it repeated a secret",
  ];
  return wrong
    .filter((one) => one !== false)
    .slice(0, 1)
    .map((one) => `${name}: ${one}`);
}
