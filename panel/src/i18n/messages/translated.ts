import type { en } from "./en.ts";

/** The same texts in any language. */
export type Translated<Source> = {
  readonly [Key in keyof Source]: Source[Key] extends string ? string : Translated<Source[Key]>;
};

/** The texts that every page needs, in one language. */
export type FirstMessages = Translated<typeof en>;
