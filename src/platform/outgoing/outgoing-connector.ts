import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { AddressPolicy, NetworkTarget } from "./address-policy.ts";
import type { DnsResolver } from "./dns-resolver.ts";

const CONNECT_MS = 5000;
const NEXT_ADDRESS_MS = 500;

/** The address policy refused the target. Says nothing about what the name resolved to. */
export class BlockedTargetError extends Error {
  override readonly name = "BlockedError";

  constructor() {
    super("the address is not allowed");
  }
}

/** No connection within 5 s, name and TLS included. */
export class ConnectTimeoutError extends Error {
  override readonly name = "ConnectTimeoutError";

  constructor() {
    super("no connection within 5 s");
  }
}

/**
 * Opens the sockets of one origin. The policy judges the concrete address that is dialled: the literal, or every answer
 * of the name in the very lookup that the socket uses, so a second answer cannot differ from the checked one.
 */
export function createOutgoingConnector(
  policy: AddressPolicy,
  target: NetworkTarget,
  lookup: DnsResolver,
): buildConnector.connector {
  const dial = buildConnector({
    timeout: 0,
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    lookup: checkedLookup(policy, target, lookup),
  });
  return (options, callback) => {
    // A socket asks `lookup` about names only.
    if (isIP(options.hostname) !== 0 && !policy.allows(target, options.hostname)) {
      callback(new BlockedTargetError(), null);
      return;
    }
    let timer: NodeJS.Timeout | undefined;
    // Its type does not say so, but it returns the socket that it opens.
    const socket = dial(options, (...result) => {
      clearTimeout(timer);
      callback(...result);
    }) as unknown as Socket;
    // undici's own connect timer ticks in half seconds.
    timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), CONNECT_MS);
  };
}

/** Answers every address of a name, or fails when one of them is not allowed. */
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
