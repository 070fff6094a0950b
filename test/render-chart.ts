import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import { makeScratchDir } from "./scratch-dir.ts";
import { listFiles, ROOT } from "./source-files.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

const CHART = "deploy/helm";
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Whether this machine can compile the program that renders the chart. */
export const HAS_GO = spawnSync("go", ["version"]).status === 0;

export interface RenderedChart {
  /** The objects for Kubernetes, in the order of the templates. */
  objects: Json[];
  notes: string;
}

export interface ChartRenderer {
  /** Throws with the message of the schema or of a template that refuses the values. */
  render(values?: Json): RenderedChart;
  remove(): Promise<void>;
}

/** Compiles `helm/render.go`, which stands in for `helm template`. */
export async function createChartRenderer(): Promise<ChartRenderer> {
  const { path, remove } = await makeScratchDir("waygate-chart-");
  const program = join(path, "render");
  const env = { ...process.env, GOCACHE: join(path, "cache"), GO111MODULE: "off", CGO_ENABLED: "0" };
  execFileSync("go", ["build", "-o", program, join(ROOT, "test/helm/render.go")], { env });
  const check = new Ajv({ strict: false }).compile(JSON.parse(read(`${CHART}/values.schema.json`)));
  return {
    remove,
    render(overrides = {}) {
      const values = merge(parse(read(`${CHART}/values.yaml`)), overrides);
      if (!check(values)) {
        const found = check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
        throw new Error(`values.schema.json refuses: ${found?.join(", ")}`);
      }
      const { status, stdout, stderr } = spawnSync(program, { input: JSON.stringify(inputOf(values)) });
      if (status !== 0) throw new Error(String(stderr));
      return toChart(JSON.parse(String(stdout)));
    },
  };
}

/** Objects are merged, anything else is replaced. */
function merge(base: Json, over: Json): Json {
  const isObject = (value: Json) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(base) || !isObject(over)) return over;
  const names = [...new Set([...Object.keys(base), ...Object.keys(over)])];
  return Object.fromEntries(
    names.map((name) => [name, name in over ? merge(base[name], over[name]) : base[name]]),
  );
}

function inputOf(values: Json) {
  const chart = parse(read(`${CHART}/Chart.yaml`));
  const paths = listFiles(CHART).map((path) => path.slice(CHART.length + 1));
  const textOf = (path: string) => [path, read(`${CHART}/${path}`)];
  return {
    Templates: Object.fromEntries(paths.filter((path) => path.startsWith("templates/")).map(textOf)),
    Files: Object.fromEntries(paths.filter((path) => !path.startsWith("templates/")).map(textOf)),
    Context: {
      Values: values,
      Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
      Release: {
        Name: "gateway",
        Namespace: "messaging",
        Service: "Helm",
        IsInstall: true,
        IsUpgrade: false,
      },
    },
  };
}

function toChart(rendered: Record<string, string>): RenderedChart {
  const { "templates/NOTES.txt": notes = "", ...manifests } = rendered;
  const documents = Object.entries(manifests)
    .sort()
    .flatMap(([path, text]) => parseAllDocuments(text).map((document) => ({ path, document })));
  for (const { path, document } of documents) {
    const [error] = "errors" in document ? document.errors : [];
    if (error) throw new Error(`${path} is no YAML: ${error.message}`);
  }
  const objects = documents.map(({ document }) => document.toJS()).filter((one) => one !== null);
  return { objects, notes };
}
