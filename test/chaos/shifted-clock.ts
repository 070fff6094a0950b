import { readFileSync } from "node:fs";

// Preloaded into a gateway: shifts its wall clock by the milliseconds in a file.
const LOOK_EVERY_MS = 50;
const file = process.env.CHAOS_CLOCK_FILE ?? "";
const RealDate = Date;
let shiftMs = 0;

class ShiftedDate extends RealDate {
  constructor(...input: unknown[]) {
    if (input.length === 0) super(RealDate.now() + shiftMs);
    else super(...(input as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
setInterval(() => {
  shiftMs = Number(readFileSync(file, "utf8")) || 0;
}, LOOK_EVERY_MS).unref();
