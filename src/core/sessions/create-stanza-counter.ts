import { Counter, type Registry } from "prom-client";

/** Counts stanzas of WhatsApp that nothing handles, by their tag. */
export type StanzaCounter = (kind: string, times?: number) => void;

const MOST_KINDS = 16;
const KIND = /^[\w:-]{1,32}$/;
const OTHER = "other";
/** `message`: that Baileys cannot read. `retry`: messages that a request names beyond its limit. */
const EXPECTED = [OTHER, "message", "retry"];

/** The network chooses the tags, so only the first kinds have a series of their own. */
export function createStanzaCounter(registry: Registry): StanzaCounter {
  const stanzas = new Counter({
    name: "waygate_whatsapp_unknown_stanzas_total",
    help: "Stanzas of WhatsApp that this node acknowledged and did not handle",
    labelNames: ["kind"],
    registers: [registry],
  });
  const kinds = new Set(EXPECTED);
  for (const kind of kinds) stanzas.inc({ kind }, 0);
  return (tag, times = 1) => {
    if (kinds.size < MOST_KINDS && KIND.test(tag)) kinds.add(tag);
    stanzas.inc({ kind: kinds.has(tag) ? tag : OTHER }, times);
  };
}
