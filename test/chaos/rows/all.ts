import type { ChaosRow } from "../chaos-row.ts";
import { f1 } from "./f01-sends.ts";
import { f2 } from "./f02-deliveries.ts";
import { f3 } from "./f03-same-job.ts";
import { f4 } from "./f04-accept.ts";
import { f5 } from "./f05-campaigns.ts";
import { f6 } from "./f06-database.ts";
import { f9 } from "./f09-receiver-away.ts";
import { f10 } from "./f10-hostile-receivers.ts";
import { f11 } from "./f11-noisy-neighbour.ts";
import { f12 } from "./f12-metadata-server.ts";
import { f13 } from "./f13-redirects.ts";
import { f14 } from "./f14-rebinding.ts";
import { f15 } from "./f15-disk-full.ts";
import { f16 } from "./f16-clock-jump.ts";
import { f17 } from "./f17-partition.ts";
import { f18 } from "./f18-double-start.ts";
import { f19 } from "./f19-stop.ts";
import { f20 } from "./f20-starved-process.ts";
import { f22 } from "./f22-restore-drill.ts";
import { f23 } from "./f23-settings.ts";
import { n3 } from "./n3-three-nodes.ts";
import { n4 } from "./n4-pooler.ts";

/** Every row of the matrix, in its order. */
export const ROWS: readonly ChaosRow[] = [
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f9,
  f10,
  f11,
  f12,
  f13,
  f14,
  f15,
  f16,
  f17,
  f18,
  f19,
  f20,
  f22,
  f23,
  n3,
  n4,
];
