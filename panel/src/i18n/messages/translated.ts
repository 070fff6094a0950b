import type { en } from "./en.ts";

/** The same keys with any text. */
export type Translated<Source> = {
  readonly [Key in keyof Source]: Source[Key] extends string ? string : Translated<Source[Key]>;
};

/** The texts of the first load. */
export type FirstMessages = Translated<typeof en>;
