import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildRequest } from "../../packages/n8n-nodes-waygate/nodes/Waygate/build-request.ts";
import type { Operation, OperationField } from "../../packages/n8n-nodes-waygate/nodes/Waygate/operation.ts";
import { n8nEvents, n8nProperties, n8nRequests } from "../../scripts/n8n/n8n-node-files.ts";
import { N8N_RESOURCES, type N8nOperation } from "../../scripts/n8n/n8n-operations.ts";
import { contract } from "../../src/contract.ts";
import { EVENT_NAMES } from "../../src/core/events/contract.ts";
import type { Contract, Route } from "../../src/platform/http/route.ts";
import { ROOT } from "../source-files.ts";

interface Property {
  name: string;
  type: string;
  required?: boolean;
  options?: { name: string; value?: string; type?: string }[];
  displayOptions?: { show: Record<string, unknown[]> };
}

const PACKAGE = join(ROOT, "packages/n8n-nodes-waygate");
const read = (path: string) => readFileSync(join(PACKAGE, path), "utf8");
const properties = n8nProperties() as unknown as Property[];
const requests = n8nRequests() as unknown as Record<string, Record<string, Operation>>;

const choices = Object.entries(N8N_RESOURCES).flatMap(([resource, { operations }]) =>
  Object.entries(operations).map(([operation, described]) => ({ resource, operation, described })),
);
const routeOf = ({ route }: N8nOperation) => (contract as Contract)[route] as Route;

/** The parameters that n8n shows for an operation. */
function shownFor(resource: string, operation: string): Property[] {
  return properties.filter(({ displayOptions }) => {
    const { resource: resources, operation: operations } = displayOptions?.show ?? {};
    return resources?.includes(resource) && operations?.includes(operation);
  });
}

/** Sample values as a user enters them. */
const SAMPLES: Record<string, unknown> = {
  code: "AbCdEfGhIjKlMnOp",
  contact_name: "Bia Souza",
  contact_phone: "5511977771234",
  emojis: "👍",
  eventId: "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP",
  from: "2026-01-31T12:00:00Z",
  image: "https://example.com/a.png",
  items: '[{"url":"https://example.com/a.png"},{"url":"https://example.com/b.png"}]',
  jid: "120363000000000001@g.us",
  latitude: "-23.5614",
  longitude: -46.6559,
  metadata: '{"order":7}',
  mime_type: "image/png",
  number: 5511999990004,
  numbers: "5511999990004, 5511999990005",
  participants: "5511999990004, 5511999990005",
  phone: "5511977771234",
  reaction: "👍",
  refresh: true,
  expires_at: "2026-01-31T12:00:00Z",
  send_at: "2026-01-31T12:00:00Z",
  since: "2026-01-31T12:00:00Z",
  status_code: 404,
  success: false,
  text: "Hello",
  to: "2026-01-31T12:00:00Z",
  until: "2026-01-31T12:00:00Z",
};

function sampleOf(field: OperationField, options: string[] | undefined): unknown {
  if (options) return options[0];
  if (field.kind === "boolean") return true;
  if (field.name in SAMPLES) return SAMPLES[field.name];
  return field.kind === "number" ? 7 : "3EB0C431D2A5F96B7E8812";
}

describe("the n8n node", () => {
  test("offers operations that an API key may call", () => {
    expect(choices.length).toBeGreaterThan(40);
    const others = choices.filter(
      ({ described }) => !["instance", "key"].includes(routeOf(described).access),
    );
    expect(others).toEqual([]);
  });

  test.each(choices)("builds a request that its route accepts: $resource $operation", (choice) => {
    const { resource, operation, described } = choice;
    const route = routeOf(described);
    const request = requests[resource]?.[operation];
    if (!request) throw new Error("The operation has no request.");
    const shown = shownFor(resource, operation);
    const fields = shown.find(({ name }) => name === "additionalFields")?.options as Property[] | undefined;
    const optionsOf = ({ name, isAdditional }: OperationField) => {
      const property = (isAdditional ? fields : shown)?.find((one) => one.name === name);
      if (!property) throw new Error(`The node has no parameter ${name}.`);
      return property.type === "options" ? property.options?.map(({ value = "" }) => value) : undefined;
    };
    const { method, path, body } = buildRequest(request, {
      instanceId: "7",
      read: (field) => sampleOf(field, optionsOf(field)),
      ...(request.isPaginated && { more: { limit: 50 } }),
    });
    const [address = "", query] = path.split("?");
    const names = [...route.http.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
    const pattern = route.http.replaceAll(/:\w+/g, "([^/]+)");
    const values = new RegExp(`^${pattern}$`).exec(`${method} ${address}`)?.slice(1).map(decodeURIComponent);
    const given = {
      ...(body === undefined ? Object.fromEntries(new URLSearchParams(query)) : JSON.parse(String(body))),
      ...Object.fromEntries(names.map((name, at) => [name, values?.[at]])),
    };
    const { error, data } = route.input.safeParse(given);
    expect(error).toBeUndefined();
    expect(Object.keys(given).filter((name) => !(name in (data as object)))).toEqual([]);
  });

  test("takes a file from binary data, an address or base64 wherever its route takes one so", () => {
    const taking = choices.filter(({ described }) => routeOf(described).upload === "file");
    expect(taking.map(({ operation }) => operation)).toEqual(["sendMedia", "setPhoto"]);
    for (const { resource, operation } of taking) {
      const sources = requests[resource]?.[operation]?.fields.filter(({ isFileSource }) => isFileSource);
      expect(sources?.map(({ name }) => name)).toEqual(["url", "base64"]);
      const shown = shownFor(resource, operation).find(({ name }) => name === "fileSource")?.options;
      expect(shown?.map(({ value }) => value)).toEqual(["base64", "binary", "url"]);
    }
  });

  test("shows each parameter for existing operations only", () => {
    const known = new Set(choices.map(({ resource, operation }) => `${resource} ${operation}`));
    const wrong = properties.flatMap(({ name, displayOptions }) => {
      const { resource = [], operation = [] } = displayOptions?.show ?? {};
      return resource.flatMap((one) =>
        operation.filter((other) => !known.has(`${one} ${other}`)).map((other) => `${name}: ${one} ${other}`),
      );
    });
    expect(wrong).toEqual([]);
  });

  test("has a trigger for the events and tags of the contract", () => {
    expect(
      n8nEvents()
        .map(({ value }) => value)
        .toSorted(),
    ).toEqual([...EVENT_NAMES].toSorted());
    const tags = [...read("nodes/WaygateTrigger/WaygateTrigger.node.ts").matchAll(/value: "(\w+)"/g)];
    const exclude = tags.map(([, tag]) => tag);
    expect(exclude).toHaveLength(3);
    const asked = contract.createWebhook.input.safeParse({
      id: 1,
      url: "https://n8n.example.com/webhook/x/waygate",
      exclude,
    });
    expect(asked.data?.exclude).toEqual(exclude);
  });

  test("is described completely: its page names each operation", () => {
    const page = read("README.md");
    for (const { name, operations } of Object.values(N8N_RESOURCES)) {
      const names = Object.values(operations).map((one) => one.name);
      expect(page).toContain(`| ${name} | ${names.toSorted().join(", ")} |`);
    }
  });

  test("is a package for n8n of the gateway's version, without dependencies", () => {
    const manifest = JSON.parse(read("package.json"));
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: "n8n-nodes-waygate",
      version,
      license: "MIT",
      n8n: { n8nNodesApiVersion: 1, strict: true },
      peerDependencies: { "n8n-workflow": "*" },
    });
    expect(manifest.keywords).toContain("n8n-community-node-package");
    expect([manifest.dependencies, manifest.scripts.install, manifest.scripts.prepare]).toEqual(
      Array(3).fill(undefined),
    );
    const versions: string[] = Object.values(manifest.devDependencies);
    expect(versions.filter((one) => !/^\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  });
});
