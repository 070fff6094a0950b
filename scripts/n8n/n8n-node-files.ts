import { contract } from "../../src/contract.ts";
import { EVENT_NAMES } from "../../src/core/events/contract.ts";
import type { Contract, Route } from "../../src/platform/http/route.ts";
import { EVENT_PAYLOADS } from "../../src/processes/extensions.ts";
import { type N8nField, n8nFieldsOf, n8nPropertyOf } from "./n8n-fields.ts";
import { N8N_RESOURCES, type N8nOperation } from "./n8n-operations.ts";
import { toN8nText } from "./n8n-texts.ts";

const HEAD = "// Written from the contract when the package is built.\n";

type Property = Record<string, unknown> & { name: string };
type Choice = [resource: string, operation: string];

/** What the node knows of the contract, as files of its package: its parameters, its requests and the events. */
export function n8nNodeFiles(): Readonly<Record<string, string>> {
  return {
    "nodes/Waygate/properties.ts": `${HEAD}
/** The parameters of the node. */
export const PROPERTIES = ${print(n8nProperties())};
`,
    "nodes/Waygate/operations.ts": `${HEAD}import type { Operation } from "./operation.ts";

/** How each operation is requested. */
export const OPERATIONS: Readonly<Record<string, Readonly<Record<string, Operation>>>> = ${print(n8nRequests())};
`,
    "nodes/WaygateTrigger/event-options.ts": `${HEAD}
/** The events that start a workflow. */
export const EVENT_OPTIONS = ${print(n8nEvents())};
`,
  };
}

/** The parameters of the node. */
export function n8nProperties(): Property[] {
  return [resourceProperty(), ...Object.keys(N8N_RESOURCES).flatMap(propertiesOfResource)];
}

/** How each operation is requested, by resource and operation; `OPERATIONS` of the node. */
export function n8nRequests(): Record<string, Record<string, Record<string, unknown>>> {
  return Object.fromEntries(
    Object.entries(N8N_RESOURCES).map(([resource, { operations }]) => [
      resource,
      Object.fromEntries(Object.entries(operations).map(([name, one]) => [name, requestOf(one)])),
    ]),
  );
}

/** The events that start a workflow. */
export function n8nEvents(): { name: string; value: string; description: string }[] {
  const options = EVENT_NAMES.map((value) => ({
    name: value,
    value,
    description: toN8nText(`Recorded when ${EVENT_PAYLOADS[value]?.when}.`),
  }));
  return options.toSorted((one, other) => one.name.localeCompare(other.name));
}

function resourceProperty(): Property {
  const options = Object.entries(N8N_RESOURCES).map(([value, { name }]) => ({ name, value }));
  return {
    displayName: "Resource",
    name: "resource",
    type: "options",
    noDataExpression: true,
    options,
    default: "message",
  };
}

function propertiesOfResource(resource: string): Property[] {
  const operations = Object.entries(N8N_RESOURCES[resource]?.operations ?? {});
  const shown = operations.flatMap(([name, operation]) =>
    propertiesOf(operation).map((property) => ({ property, choice: [resource, name] as Choice })),
  );
  return [operationProperty(resource), ...merge(shown)];
}

function operationProperty(resource: string): Property {
  const operations = Object.entries(N8N_RESOURCES[resource]?.operations ?? {});
  const options = operations.map(([value, { name, action, route, description }]) => ({
    name,
    value,
    action,
    description: description ?? toN8nText(routeOf(route).summary.split("; ")[0] ?? ""),
  }));
  return {
    displayName: "Operation",
    name: "operation",
    type: "options",
    noDataExpression: true,
    displayOptions: { show: { resource: [resource] } },
    options: options.toSorted((one, other) => one.name.localeCompare(other.name)),
    default: resource === "message" ? "sendText" : options[0]?.value,
  };
}

/** Equal parameters of several operations become one. */
function merge(shown: readonly { property: Property; choice: Choice }[]): Property[] {
  const merged = new Map<string, { property: Property; operations: string[]; resource: string }>();
  for (const { property, choice } of shown) {
    const [resource, operation] = choice;
    const known = merged.get(JSON.stringify(property));
    if (known) known.operations.push(operation);
    else merged.set(JSON.stringify(property), { property, operations: [operation], resource });
  }
  return [...merged.values()].map(({ property, operations, resource }) => {
    const { displayOptions, ...rest } = property;
    const own = (displayOptions as { show: object } | undefined)?.show;
    return { ...rest, displayOptions: { show: { resource: [resource], operation: operations, ...own } } };
  }) as unknown as Property[];
}

function propertiesOf(operation: N8nOperation): Property[] {
  const { fields, outer, isPaginated, isFile, takesFile } = readOperation(operation);
  const required = fields.filter(({ name }) => outer.has(name)).map((field) => toProperty(field, operation));
  const others = fields
    .filter(({ name }) => !outer.has(name))
    .map((field) => n8nPropertyOf(field) as Property);
  if (takesFile === "beside") others.push(inputField());
  if (routeOf(operation.route).idempotent) others.push(IDEMPOTENCY_KEY);
  return [
    ...required.filter(({ name }) => name !== "caption"),
    ...(takesFile === "instead" ? fileSource() : []),
    ...required.filter(({ name }) => name === "caption"),
    ...(isFile ? [outputField(operation)] : []),
    ...(isPaginated ? paginationProperties() : []),
    ...(others.length > 0 ? [collectionOf(others)] : []),
  ];
}

interface ReadOperation {
  fields: N8nField[];
  /** The names of parameters that are not in "Additional Fields". */
  outer: Set<string>;
  isPaginated: boolean;
  isFile: boolean;
  /** `instead`: the file, an address or base64; `beside`: one more way to give the field. */
  takesFile: "instead" | "beside" | undefined;
}

/** The names of a file's address and text, which the node shows below their source. */
const FILE_FIELDS = ["url", "base64"];

function readOperation({ route: name, shown = [], hidden = [] }: N8nOperation): ReadOperation {
  const route = routeOf(name);
  const all = n8nFieldsOf(route);
  const isPaginated = "pagination" in (route.beside?.shape ?? {});
  const takesFile = takesFileOf(route, all);
  const left = new Set([...hidden, "id", ...(isPaginated ? ["limit", "cursor"] : [])]);
  if (takesFile === "instead") for (const one of [route.upload ?? "", ...FILE_FIELDS]) left.add(one);
  const unknown = hidden.filter((one) => !all.some(({ path }) => isWithin(path, one)));
  if (unknown.length > 0) throw new Error(`${name} has no field ${unknown.join(", ")}.`);
  const fields = all.filter(({ path }) => ![...left].some((one) => isWithin(path, one)));
  const names = shown.map((one) => one.replace("!", ""));
  const absent = names.filter((one) => !fields.some(({ path }) => isWithin(path, one)));
  if (absent.length > 0) throw new Error(`${name} has no field ${absent.join(", ")} to show.`);
  const outer = fields.filter(
    ({ path, isRequired }) => isRequired || names.some((one) => isWithin(path, one)),
  );
  return {
    fields,
    outer: new Set(outer.map((field) => field.name)),
    isPaginated,
    isFile: route.raw !== undefined,
    takesFile,
  };
}

function isWithin(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

function takesFileOf({ upload }: Route, fields: readonly N8nField[]): ReadOperation["takesFile"] {
  if (upload === undefined) return undefined;
  return FILE_FIELDS.every((name) => fields.some(({ path }) => path === name)) ? "instead" : "beside";
}

function toProperty(field: N8nField, { shown = [], emptied = [] }: N8nOperation): Property {
  const { path } = field;
  const isRequired = (field.isRequired && !emptied.includes(path)) || shown.includes(`${path}!`);
  const { displayName, name, type, ...rest } = n8nPropertyOf(field);
  return { displayName, name, type, ...(isRequired && { required: true }), ...rest } as Property;
}

/** What the node needs to know to request an operation; `Operation` of the node. */
function requestOf(operation: N8nOperation): Record<string, unknown> {
  const { fields, outer, isPaginated, isFile, takesFile } = readOperation(operation);
  const route = routeOf(operation.route);
  const described = fields.map(({ name, path, kind }) => ({
    name,
    ...(path !== name && { path }),
    kind,
    ...(!outer.has(name) && { isAdditional: true }),
    ...(operation.emptied?.includes(path) && { mayBeEmpty: true }),
  }));
  const sources = FILE_FIELDS.map((name) => ({ name, kind: "text", isFileSource: true }));
  return {
    http: route.http,
    fields: takesFile === "instead" ? [...described, ...sources] : described,
    ...(takesFile && { upload: route.upload }),
    ...(isPaginated && { isPaginated }),
    ...(isFile && { isFile }),
    ...(route.idempotent && { isIdempotent: true }),
  };
}

function fileSource(): Property[] {
  const only = (source: string) => ({ displayOptions: { show: { fileSource: [source] } } });
  return [
    {
      displayName: "File Source",
      name: "fileSource",
      type: "options",
      options: [
        { name: "Base64", value: "base64" },
        { name: "Input Binary Field", value: "binary" },
        { name: "URL", value: "url" },
      ],
      default: "binary",
      description: "Where the file comes from",
    },
    { ...inputField(), required: true, ...only("binary") },
    {
      displayName: "File URL",
      name: "url",
      type: "string",
      required: true,
      default: "",
      placeholder: "https://example.com/invoice.pdf",
      description: "Address of the file, which the gateway fetches",
      ...only("url"),
    },
    {
      displayName: "File Base64",
      name: "base64",
      type: "string",
      required: true,
      typeOptions: { rows: 4 },
      default: "",
      description: "The file in base64, or a data URI",
      ...only("base64"),
    },
  ];
}

function inputField(): Property {
  return {
    displayName: "Input Binary Field",
    name: "binaryPropertyName",
    type: "string",
    default: "data",
    hint: "The name of the input binary field containing the file to be sent",
  };
}

function outputField({ route }: N8nOperation): Property {
  const isChoice = n8nFieldsOf(routeOf(route)).some(({ name }) => name === "format");
  return {
    displayName: "Put Output File in Field",
    name: "outputFieldName",
    type: "string",
    required: true,
    default: "data",
    hint: "The name of the output binary field to put the file in",
    ...(isChoice && { displayOptions: { show: { format: ["png"] } } }),
  };
}

const IDEMPOTENCY_KEY: Property = {
  displayName: "Idempotency Key",
  name: "idempotencyKey",
  type: "string",
  default: "",
  description:
    "A second request with the same key within 24 hours sends nothing. By default the node makes a key from the execution, the item and the message.",
};

function paginationProperties(): Property[] {
  return [
    {
      displayName: "Return All",
      name: "returnAll",
      type: "boolean",
      default: false,
      description: "Whether to return all results or only up to a given limit",
    },
    {
      displayName: "Limit",
      name: "limit",
      type: "number",
      typeOptions: { minValue: 1 },
      default: 50,
      description: "Max number of results to return",
      displayOptions: { show: { returnAll: [false] } },
    },
  ];
}

function collectionOf(properties: readonly Property[]): Property {
  const titleOf = ({ displayName }: Property) => String(displayName);
  return {
    displayName: "Additional Fields",
    name: "additionalFields",
    type: "collection",
    placeholder: "Add Field",
    default: {},
    options: properties.toSorted((one, other) => titleOf(one).localeCompare(titleOf(other))),
  };
}

function routeOf(name: keyof typeof contract): Route {
  return (contract as Contract)[name] as Route;
}

/** As TypeScript: the linter of n8n reads keys without quotes only. */
function print(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"(\w+)":/gm, "$1$2:");
}
