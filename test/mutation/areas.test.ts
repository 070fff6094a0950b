import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { AREAS, testsOf } from "./areas.ts";

test.each(Object.entries(AREAS))(
  "mutation testing finds the files of the area %s and their tests",
  (_, area) => {
    expect(area.mutate.filter((path) => !existsSync(path))).toEqual([]);
    expect(testsOf(area).length).toBeGreaterThan(0);
  },
);
