import { networkInterfaces } from "node:os";

/** Read at every call, because interfaces change. */
export function localAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
}
