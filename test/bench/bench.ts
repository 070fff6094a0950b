import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "../process-figures.ts";
import { benchBackup } from "./backup.ts";
import { openBenchScratch } from "./bench-scratch.ts";
import { benchCampaigns } from "./campaigns.ts";
import { benchChurn } from "./churn.ts";
import { benchExport } from "./export.ts";
import { findMain, type GatewayProgram, PRESENT } from "./gateway-program.ts";
import { benchLists } from "./lists.ts";
import { benchMedia } from "./media.ts";
import { benchPairing } from "./pairing.ts";
import { writeProfiles } from "./profile/write-profile.ts";
import { compareWithRelease, saveReleaseRatios, toRatios } from "./report/compare-with-release.ts";
import { writeOverview } from "./report/write-overview.ts";
import { writeReport } from "./report/write-report.ts";
import { runScenario, type Scenario } from "./scenario.ts";
import { accepts } from "./scenarios/accepts.ts";
import { backlog } from "./scenarios/backlog.ts";
import { deliveries } from "./scenarios/deliveries.ts";
import { inbound } from "./scenarios/inbound.ts";
import { limits } from "./scenarios/limits.ts";
import { memory } from "./scenarios/memory.ts";
import { nodes } from "./scenarios/nodes.ts";
import { releases } from "./scenarios/releases.ts";
import { sends } from "./scenarios/sends.ts";
import { sessions } from "./scenarios/sessions.ts";
import { starts } from "./scenarios/starts.ts";
import { stored } from "./scenarios/stored.ts";
import { trickle } from "./scenarios/trickle.ts";
import { benchTiming } from "./timing.ts";
import { benchWhatsAppSessions } from "./whatsapp-sessions.ts";

/** Repeated, with a report; the first ones take the least time. */
const SCENARIOS: Record<string, Scenario> = {
  starts,
  limits,
  accepts,
  sends,
  inbound,
  trickle,
  deliveries,
  nodes,
  releases,
  stored,
  memory,
  sessions,
  backlog,
};

/** Printed once. */
const BENCHES: Record<string, () => Promise<void>> = {
  campaigns: benchCampaigns,
  churn: benchChurn,
  media: benchMedia,
  lists: benchLists,
  backup: benchBackup,
  export: benchExport,
  timing: benchTiming,
  pairing: benchPairing,
  "whatsapp-sessions": benchWhatsAppSessions,
};

const SHORT = ["limits", "sends", "inbound"];
const KNOWN = [...Object.keys(SCENARIOS), ...Object.keys(BENCHES)];

/** Names choose scenarios and benches, `all` every scenario; a number is the size of a bench that has one. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    adapter: { type: "string", default: "waygate" },
    seconds: { type: "string" },
    /** Seconds of load before each run. */
    "warm-up": { type: "string" },
    repetitions: { type: "string" },
    /** A folder for the reports. */
    out: { type: "string" },
    short: { type: "boolean", default: false },
    /** A folder with an older build, which takes turns with this one. */
    beside: { type: "string" },
    /** Records where time goes; the figures of such runs are too high. */
    profile: { type: "boolean", default: false },
    /** Keeps the ratios of a short run as those of the release. */
    "save-release": { type: "boolean", default: false },
  },
});
const options = {
  adapter: values.adapter,
  seconds: Number(values.seconds ?? (values.short ? 5 : 10)),
  warmUpSeconds: Number(values["warm-up"] ?? (values.short ? 2 : 3)),
  repetitions: Number(values.repetitions ?? (values.short ? 3 : 5)),
  isShort: values.short,
};
const failures: string[] = [];
const ratios: Record<string, number> = {};

const wanted = findWanted();
const programs = findPrograms();
const scratch = await openBenchScratch();
console.log(`${describeMachine()}\n`);
for (const name of KNOWN.filter((one) => wanted.includes(one))) {
  console.log(`## ${name}`);
  const began = performance.now();
  await run(name).catch((error: unknown) => {
    console.error(error);
    failures.push(`${name}: ${error}`);
  });
  console.log(`${name} took ${((performance.now() - began) / 60_000).toFixed(1)} minutes\n`);
}
await scratch.remove();
if (values.short && !values.profile && Object.keys(ratios).length > 0)
  console.log(await compareWithRelease(ratios));
if (values["save-release"]) await saveReleaseRatios(ratios);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

async function run(name: string): Promise<void> {
  const scenario = SCENARIOS[name];
  if (!scenario) return BENCHES[name]?.();
  if (values.beside !== undefined && scenario.presentOnly !== undefined) {
    console.log(`Not measured beside an older build: ${scenario.presentOnly}`);
    return;
  }
  const report = await runScenario(scenario, options, programs);
  failures.push(...report.failures.map((failure) => `${name}: ${failure}`));
  Object.assign(ratios, toRatios(name, report.points));
  if (values.out === undefined) return;
  // The figures of a profiled run are too high for a report.
  if (values.profile) return writeProfiles(values.out, name, scenario.title, report.points);
  await writeReport(values.out, name, scenario, report.points, options);
  await writeOverview(values.out);
}

function findWanted(): string[] {
  const names = positionals.filter((word) => !/^\d+$/.test(word));
  const unknown = names.filter((name) => name !== "all" && !KNOWN.includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no bench ${unknown.join(", ")}. There are: all, ${KNOWN.join(", ")}.`);
  if (names.includes("all")) return [...Object.keys(SCENARIOS), ...names];
  if (names.length > 0) return names;
  return values.short ? SHORT : KNOWN;
}

function findPrograms(): GatewayProgram[] {
  if (values.profile && values.out === undefined)
    throw new Error("`--profile` needs `--out`, a folder for what it records.");
  const present = { ...PRESENT, isProfiled: values.profile };
  if (values.beside === undefined) return [present];
  const root = resolve(values.beside);
  if (!existsSync(findMain({ ...present, root })))
    throw new Error(`${root} has no build. Run \`npm ci && npm run build\` in it.`);
  return [present, { ...present, name: "before", root }];
}
