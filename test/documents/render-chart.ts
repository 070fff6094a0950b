import { spawnSync } from "node:child_process";
import { cp, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { makeScratchDir } from "../run/scratch-dir.ts";
import { ROOT } from "../source-files.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

export interface RenderedChart {
  /** The objects for Kubernetes, in the order in which Helm would create them. */
  objects: Json[];
  notes: string;
}

export interface ChartRenderer {
  /** Throws with the message of the schema or of a template that refuses the values. */
  render(values?: Json): Promise<RenderedChart>;
  remove(): Promise<void>;
}

const KUBERNETES = "1.30.0";
const NOTES = `apiVersion: v1
kind: ConfigMap
metadata:
  name: notes
data:
  text: {{ include "notes" . | quote }}
`;

/** Runs `helm template` on a copy of the chart that shows its notes in an object: by itself, Helm shows them only in a cluster. */
export async function createChartRenderer(): Promise<ChartRenderer> {
  const { path, remove } = await makeScratchDir("waygate-chart-");
  const chart = join(path, "waygate");
  await cp(join(ROOT, "deploy/helm"), chart, { recursive: true });
  await rename(join(chart, "templates/NOTES.txt"), join(chart, "templates/_notes.tpl"));
  const text = await readFile(join(chart, "templates/_notes.tpl"), "utf8");
  await writeFile(join(chart, "templates/_notes.tpl"), `{{ define "notes" }}${text}{{ end }}`);
  await writeFile(join(chart, "templates/notes.yaml"), NOTES);
  const values = join(path, "values.json");
  return {
    remove,
    async render(given = {}) {
      await writeFile(values, JSON.stringify(given));
      const place = ["--namespace", "messaging", "--kube-version", KUBERNETES];
      const { status, stdout, stderr } = spawnSync(
        "helm",
        ["template", "gateway", chart, ...place, "--values", values],
        { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
      );
      if (status !== 0) throw new Error(stderr);
      return toChart(stdout);
    },
  };
}

function toChart(manifests: string): RenderedChart {
  const documents = parseAllDocuments(manifests);
  const [error] = documents.flatMap((document) => ("errors" in document ? document.errors : []));
  if (error) throw new Error(`Helm has rendered no YAML: ${error.message}`);
  const all = documents.map((document) => document.toJS()).filter((one) => one !== null);
  const notes = all.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "notes");
  return { objects: all.filter((one) => one !== notes), notes: notes.data.text };
}
