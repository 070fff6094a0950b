import { expect, test } from "vitest";
import { z } from "zod";
import { contract } from "../src/contract.ts";
import { GatewayError } from "../src/platform/gateway-error.ts";
import { readInput, readPath } from "../src/platform/http/input/read-input.ts";
import type { Route } from "../src/platform/http/route.ts";

/** Typical messages of the validation library. */
const LIBRARY_WORDS = /\b(invalid|too (big|small)|expected|received (?!,)|unrecognized|NaN|undefined)\b/i;
/** Names of events and states are not sentences. */
const NAMES = /\b(message|call)\.received\b|\breceived\b(?=,| or|$)/g;

const WRONG = [
  [],
  {},
  "x",
  "y".repeat(5000),
  "",
  -1,
  1e15,
  0.5,
  true,
  false,
  [[]],
  [{}],
  ["x"],
  [5],
  [null],
  { x: 1 },
  { url: 5 },
  { é: "x" },
  { id: [] },
  "2026-99-99",
];

type Fields = Record<string, unknown>;

const routes: [string, Route][] = Object.entries(contract);

/** The fields of an input, those of the objects in it by their dotted paths. */
function fieldPaths(schema: z.ZodType, depth = 3): string[] {
  const described = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return pathsOf(described as Fields, depth);
}

function pathsOf(described: Fields, depth: number): string[] {
  const branches = ["anyOf", "allOf", "oneOf"].flatMap((word) => (described[word] ?? []) as Fields[]);
  const own = Object.entries((described.properties ?? {}) as Record<string, Fields>).flatMap(
    ([name, inner]) => {
      const below = depth === 0 ? [] : pathsOf(inner, depth - 1);
      return [name, ...below.map((rest) => `${name}.${rest}`)];
    },
  );
  return [...new Set([...own, ...branches.flatMap((branch) => pathsOf(branch, depth))])];
}

function bodyWith(path: string, value: unknown): Fields {
  const [name = "", ...rest] = path.split(".");
  return { [name]: rest.length === 0 ? value : bodyWith(rest.join("."), value) };
}

function refusalOf(route: Route, fields: Fields): GatewayError | undefined {
  const isInPath = (name: string) => route.http.split("/").includes(`:${name}`);
  const path = Object.fromEntries(Object.entries(fields).filter(([name]) => isInPath(name)));
  const sent = Object.fromEntries(Object.entries(fields).filter(([name]) => !isInPath(name)));
  try {
    readInput(route, { path, query: sent, body: sent });
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

interface Refused {
  field: string;
  issue: string;
}

const faultsOf = (refusal: GatewayError | undefined) => (refusal?.details?.fields ?? []) as Refused[];

test("no wrong value in any field of any operation is refused with the message of a library", () => {
  let refused = 0;
  const foreign: string[] = [];
  for (const [name, route] of routes) {
    for (const path of fieldPaths(route.input)) {
      for (const value of WRONG) {
        for (const { field, issue } of faultsOf(refusalOf(route, bodyWith(path, value)))) {
          refused += 1;
          if (LIBRARY_WORDS.test(issue.replaceAll(NAMES, ""))) foreign.push(`${name} ${field}: ${issue}`);
        }
      }
    }
  }
  expect([...new Set(foreign)]).toEqual([]);
  expect(refused).toBeGreaterThan(5000);
});

/** Fields in which null has a meaning. */
const isNullable = (route: Route, path: string) =>
  JSON.stringify(
    readPath(z.toJSONSchema(route.input, { io: "input", unrepresentable: "any" }), `properties.${path}`),
  )?.includes('"null"') ?? false;

test("a null field is refused exactly like an absent one", () => {
  const uneven: string[] = [];
  for (const [name, route] of routes) {
    const absent = refusalOf(route, {})?.message;
    const tops = fieldPaths(route.input, 0);
    for (const path of tops.filter((path) => !isNullable(route, path))) {
      const refusal = refusalOf(route, { [path]: null })?.message;
      if (refusal !== absent) uneven.push(`${name} ${path}: ${refusal}`);
    }
  }
  expect(uneven).toEqual([]);
});

test("a wrong value in an alias is refused under the name of the alias", () => {
  const renamed: string[] = [];
  let checked = 0;
  for (const [name, route] of routes) {
    for (const [canonical, aliases] of Object.entries(route.aliases ?? {})) {
      for (const alias of aliases) {
        const own = faultsOf(refusalOf(route, { [canonical]: { wrong: [1] } })).map(({ field }) => field);
        if (!own.includes(canonical)) continue;
        checked += 1;
        const fields = faultsOf(refusalOf(route, bodyWith(alias, { wrong: [1] }))).map(({ field }) => field);
        if (!fields.includes(alias)) renamed.push(`${name} ${alias}: ${fields}`);
      }
    }
  }
  expect(renamed).toEqual([]);
  expect(checked).toBeGreaterThan(200);
});

const issueOf = (name: keyof typeof contract, fields: Fields) => refusalOf(contract[name], fields);
const sentence = (name: keyof typeof contract, fields: Fields) =>
  faultsOf(issueOf(name, fields))
    .filter(({ field }) => Object.keys(fields).includes(field.split(".")[0] ?? ""))
    .map(({ field, issue }) => `${field}: ${issue}`)
    .join("; ");

test("an error message says which values the field accepts", () => {
  expect(sentence("listMessages", { limit: "abc" })).toBe("limit: must be a whole number from 1 to 200");
  expect(sentence("listMessages", { limit: "100000" })).toBe("limit: must be a whole number from 1 to 200");
  expect(sentence("sendText", { async: "yes" })).toBe("async: must be true or false");
  expect(sentence("createInstance", { network: "telegram" })).toBe("network: must be whatsapp or sandbox");
  expect(sentence("sendLocation", { latitude: 200 })).toBe("latitude: must be between -90 and 90");
  expect(sentence("sendText", { text: 5 })).toBe("text: must be text");
  expect(sentence("sendText", { to: true })).toBe(
    "to: must be digits with country and area code, or a jid, of at most 120 characters",
  );
  expect(sentence("createWebhook", { events: ["messages"] })).toMatch(
    /^events\.0: "messages" is not the name of an event\. The names are \*, message\.\*, .*\bmessage\.received, .*integration\.paused$/,
  );
});
