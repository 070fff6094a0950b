import type { proto } from "baileys";
import type { Address } from "../group.ts";
import type { Handset, Timer } from "../handset.ts";
import { contextOf, unwrapped } from "../message-content.ts";
import type { Network } from "../network.ts";

const keyOf = (owner: Handset, from: Handset["person"], to: Address): string => {
  if (to.kind === "group") return to.group.jid;
  return from === owner.person ? to.person.phone : from.phone;
};

/** The timer that each message of a chat carries. */
export function timerContext(network: Network, from: string, to: Address): proto.IContextInfo | undefined {
  const { handset } = network.person(from);
  const timer = timerOf(handset, handset.person, to);
  return timer && { expiration: timer.expiration, ephemeralSettingTimestamp: timer.set_at };
}

function timerOf(owner: Handset, from: Handset["person"], to: Address): Timer | undefined {
  if (to.kind === "group") {
    const { ephemeral, ephemeralSetAt } = to.group;
    return ephemeral > 0 ? { expiration: ephemeral, set_at: ephemeralSetAt } : undefined;
  }
  return owner.timers.get(keyOf(owner, from, to));
}

/**
 * Why a phone would warn that a message will not disappear. In a group the sender may not know the time of the
 * setting.
 */
export function warningOf(
  owner: Handset,
  from: Handset["person"],
  to: Address,
  message: proto.IMessage,
): string | undefined {
  const timer = timerOf(owner, from, to);
  const inner = unwrapped(message);
  const content = inner.protocolMessage?.editedMessage ?? inner;
  if (inner.reactionMessage || (inner.protocolMessage && content === inner)) return undefined;
  const context = contextOf(unwrapped(content));
  const said = {
    expiration: context?.expiration ?? 0,
    set_at: Number(context?.ephemeralSettingTimestamp ?? 0),
  };
  const wanted = timer ?? { expiration: 0, set_at: 0 };
  const isLate = wanted.expiration > 0 && said.set_at !== wanted.set_at;
  const isOfUnknownTime = to.kind === "group" && said.set_at === 0;
  if (said.expiration === wanted.expiration && (!isLate || isOfUnknownTime)) return undefined;
  return `${JSON.stringify(said)} in a chat with ${JSON.stringify(wanted)}`;
}
