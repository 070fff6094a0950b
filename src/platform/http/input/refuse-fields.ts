import { invalidFields } from "../../gateway-error.ts";
import type { FieldIssue } from "../../issue-codes.ts";
import type { Route } from "../route.ts";
import { findShape } from "./find-shape.ts";
import { MAX_NAME } from "./invalid-input.ts";
import { readPath } from "./read-path.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Throws VALIDATION_ERROR for fields that the route refuses. Without this, a request of another gateway would do something else than there. */
export function refuseFields(route: Route, sent: Fields): void {
  const { refuses = {}, refusesOthers } = route;
  if (!route.refuses && !refusesOthers) return;
  const spellings = spellingsOf(route, sent);
  const asked = new Map<string, string>();
  for (const [name, { issue, isAsked = isOn }] of Object.entries(refuses)) {
    const written = [name, ...(spellings.get(folded(name)) ?? [])];
    // One of them is enough: a body may have thousands of spellings.
    const field = written.find((one) => isAsked(readPath(sent, one)));
    if (field !== undefined) asked.set(field, issue);
  }
  for (const [name, written] of refusesOthers && asked.size === 0 ? spellings : []) {
    const issues = written.map((field) => [field, refusesOthers?.(name, readPath(sent, field))] as const);
    const refused = issues.find(([, issue]) => issue !== undefined);
    if (refused?.[1] === undefined) continue;
    asked.set(refused[0], refused[1]);
    break;
  }
  const [first, ...others] = [...asked].map(([field, issue]) => notSupported(field, issue));
  if (first) throw invalidFields([first, ...others]);
}

function notSupported(field: string, issue: string): FieldIssue {
  return { field, code: "not_supported", params: {}, issue };
}

/** The paths of a request's fields, also in `options` and `contextInfo`, by their folded names, without those that the route reads. */
function spellingsOf({ input, aliases = {} }: Route, sent: Fields): ReadonlyMap<string, string[]> {
  const own = new Set([...Object.keys(findShape(input) ?? {}), ...Object.values(aliases).flat()]);
  const spellings = new Map<string, string[]>();
  for (const name of Object.entries(sent).flatMap(([key, value]) => [key, ...namesInside(key, value)])) {
    if (name.length > MAX_NAME || own.has(name)) continue;
    const key = folded(name.replace(/^options\./i, ""));
    const others = spellings.get(key);
    if (others) others.push(name);
    else spellings.set(key, [name]);
  }
  return spellings;
}

function namesInside(name: string, value: unknown): string[] {
  if (!/^(?:options|context_?info)$/i.test(name)) return [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.keys(value).map((inner) => `${name}.${inner}`);
}

function folded(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

const OFF = new Set<unknown>([undefined, null, false, 0, "", "false", "0"]);

function isOn(value: unknown): boolean {
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return !isEmpty && !OFF.has(value);
}
