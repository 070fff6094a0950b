import { networkInterfaces } from "node:os";

/** As they are now: interfaces come and go. */
export function localAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
}
