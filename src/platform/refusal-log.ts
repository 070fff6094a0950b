import { type BoundedWarningsOptions, createBoundedWarnings } from "./bounded-warnings.ts";

/** A refusal that an operator may want to look into; `ip` is anonymised. */
export interface Refusal {
  ip: string | undefined;
  method: string;
  route: string;
  status: number;
  code: string | undefined;
  request_id: string;
}

export type NoteRefusal = (refusal: Refusal) => void;

export type RefusalLogOptions = Pick<BoundedWarningsOptions<Refusal>, "log" | "clock">;

/** Warns of refused credentials, bounded per network. */
export function createRefusalLog(options: RefusalLogOptions): NoteRefusal {
  return createBoundedWarnings({
    ...options,
    message: "a caller was refused",
    sourceOf: ({ ip }) => String(ip),
  });
}
