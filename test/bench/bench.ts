import { describeMachine } from "../process-figures.ts";
import { benchAccept } from "./accept.ts";
import { benchBackup } from "./backup.ts";
import { benchCampaigns } from "./campaigns.ts";
import { benchChurn } from "./churn.ts";
import { benchDeliveries } from "./deliveries.ts";
import { benchExport } from "./export.ts";
import { benchLists } from "./lists.ts";
import { benchMedia } from "./media.ts";
import { benchPairing } from "./pairing.ts";
import { benchStart } from "./start.ts";
import { benchTiming } from "./timing.ts";
import { benchWhatsAppInbound } from "./whatsapp-inbound.ts";
import { benchWhatsAppSends } from "./whatsapp-sends.ts";
import { benchWhatsAppSessions } from "./whatsapp-sessions.ts";

const BENCHES: Record<string, () => Promise<void>> = {
  start: benchStart,
  accept: benchAccept,
  deliveries: benchDeliveries,
  campaigns: benchCampaigns,
  churn: benchChurn,
  media: benchMedia,
  lists: benchLists,
  backup: benchBackup,
  export: benchExport,
  timing: benchTiming,
  pairing: benchPairing,
  "whatsapp-sends": benchWhatsAppSends,
  "whatsapp-sessions": benchWhatsAppSessions,
  "whatsapp-inbound": benchWhatsAppInbound,
};

/** Prints the figures of docs/reliability/benchmarks.md; with names, only those; a number is the size of what has one. */
const wanted = process.argv.slice(2).filter((word) => !/^\d+$/.test(word));
console.log(`${describeMachine()}\n`);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.some((one) => name === one || name.startsWith(`${one}-`))) continue;
  console.log(`## ${name}`);
  await bench();
  console.log("");
}
