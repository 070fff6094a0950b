import { contract } from "../contract.ts";
import { invalidField } from "../platform/gateway-error.ts";
import { asMeant } from "../platform/http/input/as-meant.ts";
import { explainUnknownName } from "../platform/http/input/explain-unknown-name.ts";
import { refuseDifferentAddresses } from "../platform/http/input/refuse-different-addresses.ts";
import { resolveAliases } from "../platform/http/input/resolve-aliases.ts";
import type { Aliases } from "../platform/http/route.ts";
import type { Tool } from "./tool.ts";

/** The names that the routes know beside those of the tools. */
const ALIASES: Aliases = {
  instanceId: ["instance_id"],
  number: ["phone", ...contract.sendText.aliases.number],
  messageId: ["message_id"],
  mediaUrl: ["url", "media_url"],
  mimeType: ["mime_type", "mimetype"],
  fileName: ["file_name", "filename"],
  buttonText: ["button_text"],
  q: ["search", "query"],
};
const LONGEST_NAME = 100;

/**
 * The arguments of a tool under its own names. Throws VALIDATION_ERROR for one that the tool does not have, since it would do
 * something else without it, and for two that name different people.
 */
export function readArguments({ name, input }: Tool, sent: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(input.shape);
  const aliases = Object.fromEntries(Object.entries(ALIASES).filter(([field]) => names.includes(field)));
  const others = Object.values(aliases).flat();
  const accepted = new Set([...names, ...others]);
  const unknown = Object.keys(sent).find((field) => !accepted.has(field) && sent[field] !== null);
  if (unknown !== undefined) {
    const field = unknown.slice(0, LONGEST_NAME);
    const known = { one: `an argument of ${name}`, all: "Arguments", names, aliases: others };
    throw invalidField(field, explainUnknownName(field, known));
  }
  if (aliases.number)
    refuseDifferentAddresses({ aliases: { number: ["jid", ...aliases.number] } }, (field) => sent[field]);
  return asMeant(input, resolveAliases(sent, aliases, input), "POST");
}
