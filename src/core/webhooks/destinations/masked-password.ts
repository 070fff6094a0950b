const MASK = "****";

/** The address in responses: http shows its address as it was saved, any other hides the password. */
export function maskPassword(url: string): string {
  return isOfBroker(url) && passwordOf(url) !== "" ? withPassword(url, MASK) : url;
}

/** Whether an address has the mask of a response instead of its password. */
export function hasMaskedPassword(url: string): boolean {
  return isOfBroker(url) && passwordOf(url) === MASK;
}

/** The address with the password of the stored one; undefined if that has none, or another user or host. */
export function withPasswordOf(stored: string, url: string): string | undefined {
  if (!isOfBroker(stored) || passwordOf(stored) === "") return undefined;
  const [before, after] = [new URL(stored), new URL(url)];
  const isSame = (["protocol", "host", "username"] as const).every((part) => before[part] === after[part]);
  return isSame ? withPassword(url, before.password) : undefined;
}

/** The password of an address; empty without one. */
export function passwordOf(url: string): string {
  return URL.canParse(url) ? new URL(url).password : "";
}

function withPassword(url: string, password: string): string {
  const changed = new URL(url);
  changed.password = password;
  return changed.href;
}

function isOfBroker(url: string): boolean {
  return URL.canParse(url) && !/^https?:$/.test(new URL(url).protocol);
}
