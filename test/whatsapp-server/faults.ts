import type { Fault } from "./control.ts";

type FaultOf<Name extends Fault["fault"]> = Extract<Fault, { fault: Name }>;

/** The faults that tests ordered, each used up by the times it says. */
export class Faults {
  #ordered: Fault[] = [];

  order(fault: Fault): void {
    this.#ordered.push({ ...fault, times: fault.times ?? 1 });
  }

  clear(): void {
    this.#ordered = [];
  }

  /** The first fault of a kind that applies here; counts as one use of it. */
  take<Name extends Fault["fault"]>(
    name: Name,
    phone: string | undefined,
    fits: (fault: FaultOf<Name>) => boolean = () => true,
  ): FaultOf<Name> | undefined {
    const found = this.#ordered.find(
      (one): one is FaultOf<Name> =>
        one.fault === name && (one.phone === undefined || one.phone === phone) && fits(one as FaultOf<Name>),
    );
    if (!found) return undefined;
    found.times = (found.times ?? 1) - 1;
    if (found.times <= 0) this.#ordered = this.#ordered.filter((one) => one !== found);
    return found;
  }
}
