import type { E2eStory, PairedInstance } from "../e2e/e2e-story.ts";
import type { ContactSay } from "./ledgers.ts";

/** So many people write to an instance at once; each text becomes known when the network has taken it. */
export function receiveTexts(
  story: E2eStory,
  instance: PairedInstance,
  name: string,
  count: number,
): ContactSay[] {
  const client = story.clientOf(instance);
  return Array.from({ length: count }, (_, i) => {
    const said: ContactSay = { key: `${name}-${i}`, known: "unknown" };
    const from = `5521966660${String(i).padStart(3, "0")}`;
    client.sandboxReceive({ id: instance.id, from, text: said.key }).then(
      () => {
        said.known = "ok";
      },
      () => {},
    );
    return said;
  });
}
