import type { z } from "zod";
import { GatewayError } from "../../gateway-error.ts";
import type { Aliases, Route } from "../route.ts";
import { isOptional } from "./as-meant.ts";
import { findShape } from "./find-shape.ts";
import { isPresent, readPath } from "./read-path.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Fills each absent or null canonical field from its first given alias; so an empty one that is optional. */
export function resolveAliases(
  fields: Fields,
  aliases: Aliases | undefined,
  input?: z.ZodType,
): Record<string, unknown> {
  const shape = (input && findShape(input)) ?? {};
  let resolved = { ...fields };
  for (const [name, others] of Object.entries(aliases ?? {})) {
    const schema = shape[name];
    const isGiven = (value: unknown) =>
      isPresent(value) && !(value === "" && schema !== undefined && isOptional(schema));
    if (isGiven(readPath(fields, name))) continue;
    const value = others.map((other) => readPath(fields, other)).find(isGiven);
    if (value !== undefined) resolved = withPath(resolved, name.split("."), value);
  }
  return resolved;
}

/** A copy with a value at a path; unchanged if something else than an object is on the way. */
function withPath(fields: unknown, [name = "", ...rest]: string[], value: unknown): Record<string, unknown> {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return fields as never;
  const inner = (fields as Record<string, unknown>)[name] ?? {};
  return { ...fields, [name]: rest.length === 0 ? value : withPath(inner, rest, value) };
}

/** The same error, with each field named as the caller sent it, possibly by an alias. */
export function nameFieldsAsSent(refusal: GatewayError, route: Route, sent: Fields): GatewayError {
  const { fields } = refusal.details ?? {};
  if (refusal.code !== "VALIDATION_ERROR" || !fields) return refusal;
  const names = fields.map(({ field }) => [field, nameAsSent(sent, field, route.aliases)] as const);
  // A sentence may name another wrong field, in backticks.
  const rename = (text: string) =>
    names.reduce((said, [own, alias]) => said.replaceAll(`\`${own}\``, () => `\`${alias}\``), text);
  const named = fields.map((one, at) => ({
    ...one,
    field: names[at]?.[1] ?? one.field,
    issue: rename(one.issue),
  }));
  const [before = "", after = ""] = names[0] ?? [];
  const isAtStart = refusal.message.startsWith(`${before}: `);
  const sentence = rename(isAtStart ? `${after}${refusal.message.slice(before.length)}` : refusal.message);
  const details = { ...refusal.details, fields: named };
  return new GatewayError(refusal.code, sentence, { details, cause: refusal.cause });
}

/** The name that the request used for an input field (a dotted path): its own name, or an alias. */
function nameAsSent(fields: Fields, path: string, aliases: Aliases | undefined): string {
  const [name = "", ...rest] = path.split(".");
  if (isPresent(readPath(fields, name))) return path;
  const alias = aliases?.[name]?.find((other) => isPresent(readPath(fields, other)));
  return alias === undefined ? path : [alias, ...rest].join(".");
}
