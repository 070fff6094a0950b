import { Counter, type Registry } from "prom-client";

/** Counts a stanza of WhatsApp that nothing handles, by its tag. */
export type StanzaCounter = (tag: string) => void;

const MOST_KINDS = 16;
const KIND = /^[\w:-]{1,32}$/;
const OTHER = "other";

/** The network chooses the tags, so only the first kinds have a series of their own. */
export function createStanzaCounter(registry: Registry): StanzaCounter {
  const stanzas = new Counter({
    name: "waygate_whatsapp_unknown_stanzas_total",
    help: "Stanzas of WhatsApp that this node acknowledged although nothing handles their kind",
    labelNames: ["kind"],
    registers: [registry],
  });
  const kinds = new Set([OTHER]);
  stanzas.inc({ kind: OTHER }, 0);
  return (tag) => {
    if (kinds.size <= MOST_KINDS && KIND.test(tag)) kinds.add(tag);
    stanzas.inc({ kind: kinds.has(tag) ? tag : OTHER });
  };
}
