// Baileys 7.0.0-rc14 compares the whole LID with a user part, so it sends a LID group's key to the own device too.
// Not reported upstream.
import { jidDecode, jidEncode, type WASocket } from "baileys";

const KIND = "sender-key-memory";

/** Marks the own device as one that has the key, so that no key message goes to it. */
export function excludeOwnDevice({ authState: { creds, keys } }: WASocket): void {
  const { get } = keys;
  keys.get = async (kind, ids) => {
    const found = await get(kind, ids);
    const own = kind === KIND ? ownAddress(creds.me) : undefined;
    if (own === undefined) return found;
    const known = ids.map((id) => [id, { ...(found[id] as object | undefined), [own]: true }] as const);
    return Object.fromEntries(known) as unknown as typeof found;
  };
}

function ownAddress(me: { id: string; lid?: string } | undefined): string | undefined {
  const user = jidDecode(me?.lid)?.user;
  return user && jidEncode(user, "lid", jidDecode(me?.id)?.device);
}
