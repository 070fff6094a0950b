import { z } from "zod";

const FIRST = new Date("0001-01-01T00:00:00Z");
const LAST = new Date("9999-12-31T23:59:59.999Z");
const ERROR = "is not a time (ISO 8601) of the years 1 to 9999";

/** A time in an input. The database cannot store all years that a Date can. */
export const pointInTime = z.coerce.date<string | Date>(ERROR).min(FIRST, ERROR).max(LAST, ERROR);
