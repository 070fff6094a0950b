import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { AddressPolicy, NetworkTarget } from "./address-policy.ts";
import { BlockedTargetError, ConnectTimeoutError } from "./classify-fetch-failure.ts";
import type { DnsResolver } from "./dns-resolver.ts";
import { readInPieces } from "./read-in-pieces.ts";

const NEXT_ADDRESS_MS = 500;

/**
 * Opens the sockets of one origin. The policy checks the address that is actually connected to: a literal, or
 * every result of the socket's own lookup. So DNS rebinding cannot bypass the check.
 */
export function createOutgoingConnector(
  policy: AddressPolicy,
  target: NetworkTarget,
  lookup: DnsResolver,
  connectMs: number,
): buildConnector.connector {
  const dial = buildConnector({
    timeout: 0,
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    lookup: checkedLookup(policy, target, lookup),
  });
  return readInPieces((options, callback) => {
    // A socket uses `lookup` only for names.
    if (isIP(options.hostname) !== 0 && !policy.allows(target, options.hostname)) {
      callback(new BlockedTargetError(), null);
      return;
    }
    let timer: NodeJS.Timeout | undefined;
    // Despite its type, it returns the socket that it opens.
    const socket = dial(options, (...result) => {
      clearTimeout(timer);
      callback(...result);
    }) as unknown as Socket;
    // undici's own connect timer has a resolution of half a second.
    timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), connectMs);
  });
}

/** Returns every address of a name, or fails if one of them is not allowed. */
export function checkedLookup(
  policy: AddressPolicy,
  target: NetworkTarget,
  lookup: DnsResolver,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => policy.allows(target, address))) {
          callback(new BlockedTargetError(), [], undefined);
        } else if (options.all === true) {
          callback(null, addresses);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: NodeJS.ErrnoException) => callback(error, [] satisfies LookupAddress[]),
    );
  };
}
