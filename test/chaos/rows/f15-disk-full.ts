import type { ChaosRow } from "../chaos-row.ts";
import { fillDatabaseVolume } from "../full-database.ts";
import { fillFileVolumes } from "../full-files.ts";

/** F15: no room for the database, for media, in the data directory, for the log; refused with a word, and then back. */
export const f15: ChaosRow = {
  id: "F15",
  fault: "disk full: database, media, data directory, log",
  needs: ["root", "mount"],
  async run(round) {
    const database = await fillDatabaseVolume(round);
    const files = await fillFileVolumes(round);
    return {
      ...database,
      measured: { ...database.measured, ...files.measured },
      breaches: [...database.breaches, ...files.breaches],
    };
  },
};
