import { expect, test } from "vitest";
import { silenceConsole } from "../whatsapp-server/silence-log.ts";
import { sendMalformedMedia } from "./malformed-media.ts";
import { isFullRun, printFigures } from "./run-size.ts";

test("files with false lengths and sizes are accepted unchanged or refused with a reason, on every route", {
  timeout: 1_200_000,
}, async () => {
  silenceConsole();
  const figures = await sendMalformedMedia({ step: isFullRun ? 1 : 12 });
  printFigures("Malformed files", figures);
  expect(figures.faults).toEqual([]);
  expect(figures.incoming).toEqual({ ready: figures.files });
  // The largest picture that is decoded has 200 MB of pixels.
  expect(figures.memory_most_mb - figures.memory_before_mb).toBeLessThan(900);
});
