import { parseArgs } from "node:util";
import { describeMachine } from "../process-figures.ts";
import { benchBackup } from "./backup.ts";
import { benchCampaigns } from "./campaigns.ts";
import { benchChurn } from "./churn.ts";
import { benchDeliveries } from "./deliveries.ts";
import { benchExport } from "./export.ts";
import { benchLists } from "./lists.ts";
import { benchMedia } from "./media.ts";
import { benchPairing } from "./pairing.ts";
import { compareWithRelease, saveReleaseRatios, toRatios } from "./report/compare-with-release.ts";
import { writeReport } from "./report/write-report.ts";
import { type BenchOptions, runScenario, type Scenario } from "./scenario.ts";
import { accepts } from "./scenarios/accepts.ts";
import { inbound } from "./scenarios/inbound.ts";
import { limits } from "./scenarios/limits.ts";
import { memory } from "./scenarios/memory.ts";
import { nodes } from "./scenarios/nodes.ts";
import { sends } from "./scenarios/sends.ts";
import { sessions } from "./scenarios/sessions.ts";
import { starts } from "./scenarios/starts.ts";
import { trickle } from "./scenarios/trickle.ts";
import { benchTiming } from "./timing.ts";
import { benchWhatsAppSessions } from "./whatsapp-sessions.ts";

/** Repeated, with a report; all but `starts` and `limits` measure any gateway that has an adapter. */
const SCENARIOS: Record<string, Scenario> = {
  limits,
  sends,
  accepts,
  inbound,
  trickle,
  nodes,
  sessions,
  memory,
  starts,
};

/** Printed once, of this gateway only. */
const BENCHES: Record<string, () => Promise<void>> = {
  deliveries: benchDeliveries,
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

/** With names, only those; a number is the size of a bench that has one. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    adapter: { type: "string", default: "waygate" },
    seconds: { type: "string" },
    repetitions: { type: "string" },
    /** A folder for the reports. */
    out: { type: "string" },
    short: { type: "boolean", default: false },
    /** Keeps the ratios of a short run as those of the release. */
    "save-release": { type: "boolean", default: false },
  },
});
const options: BenchOptions = {
  adapter: values.adapter,
  seconds: Number(values.seconds ?? (values.short ? 5 : 10)),
  warmUpSeconds: values.short ? 2 : 3,
  repetitions: Number(values.repetitions ?? (values.short ? 3 : 5)),
  isShort: values.short,
};
const names = positionals.filter((word) => !/^\d+$/.test(word));
const known = [...Object.keys(SCENARIOS), ...Object.keys(BENCHES)];
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0)
  throw new Error(`There is no bench ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
const wanted = names.length > 0 ? names : values.short ? SHORT : known;

console.log(`${describeMachine()}\n`);
const ratios: Record<string, number> = {};
for (const name of known.filter((one) => wanted.includes(one))) {
  console.log(`## ${name}`);
  await BENCHES[name]?.();
  const scenario = SCENARIOS[name];
  if (scenario) {
    const points = await runScenario(scenario, options);
    if (values.out !== undefined) await writeReport(values.out, name, scenario, points, options);
    Object.assign(ratios, toRatios(name, points));
  }
  console.log("");
}
if (values.short && Object.keys(ratios).length > 0) console.log(await compareWithRelease(ratios));
if (values["save-release"]) await saveReleaseRatios(ratios);
