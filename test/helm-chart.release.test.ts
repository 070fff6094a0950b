import { execFileSync, spawnSync } from "node:child_process";
import { cp, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StatefulSet } from "kubernetes-models/apps/v1";
import { Ingress, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, PersistentVolumeClaim, Secret, Service } from "kubernetes-models/v1";
import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { readConfig } from "../src/platform/config/config.ts";
import { needs } from "./run/programs.ts";
import { makeScratchDir, type ScratchDir } from "./run/scratch-dir.ts";
import { ROOT } from "./source-files.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

interface RenderedChart {
  /** Kubernetes objects in the order in which Helm creates them. */
  objects: Json[];
  notes: string;
}

interface ChartRenderer {
  /** Throws the schema's or template's error if it rejects the values. */
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

/**
 * Runs `helm template` on a copy of the chart that has its notes in an object, because Helm shows them only in a
 * cluster.
 */
async function createChartRenderer(): Promise<ChartRenderer> {
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

const SECRETS = {
  DATABASE_URL: "postgres://waygate@db.example:5432/waygate",
  PGPASSWORD: "a/b#c",
  WAYGATE_SECRET_KEY: "q83vEjRWeJq83vASNFZ4mg0Tg6XzLk7d",
  WAYGATE_CLUSTER_SECRET: "Zk4W0yq7UeT1nRb8sVhM3xGpD5aJf2Lc",
  WAYGATE_BACKUP_KEY: "H7mQx2ZrT9vKpY4wNc6sEd1uJg8bFa3L",
};
const PEER = { namespaceSelector: { matchLabels: { team: "edge" } } };

/** Values of several kinds of installation. */
const INSTALLATIONS: Record<string, Json> = {
  "with the secrets alone": { secrets: SECRETS },
  "with one node and a volume of its own": {
    replicas: 1,
    secrets: SECRETS,
    files: { accessModes: ["ReadWriteOnce"], storageClass: "fast", size: "5Gi" },
  },
  "with a foreign secret, an existing claim and an ingress": {
    replicas: 3,
    existingSecret: "my-secret",
    files: { existingClaim: "my-claim" },
    ingress: { enabled: true, className: "nginx", host: "wa.example.com", tlsSecret: "tls" },
    networkPolicy: { from: [PEER] },
    image: { repository: "registry.example.com/waygate", pullSecrets: [{ name: "pull" }] },
    podAnnotations: { "example.com/team": "edge" },
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "edge", operator: "Exists", effect: "NoSchedule" }],
  },
  "with a bucket and no volume, budget or policy": {
    secrets: { ...SECRETS, WAYGATE_MEDIA: "s3://bucket/prefix?region=eu-central-1" },
    files: { enabled: false },
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
    service: { type: "LoadBalancer", port: 8080 },
    settings: {
      WAYGATE_LOG_LEVEL: "warn",
      WAYGATE_MEDIA_MAX_MB: 50,
      WAYGATE_UNKNOWN_RATE: 1000000,
      WAYGATE_HTTPS_ONLY: true,
    },
  },
  "with the Prometheus operator": {
    secrets: { ...SECRETS, WAYGATE_METRICS_TOKEN: "P3tLr8XkVn5qWz1yBc7mHs4dGf9jTe2A" },
    monitoring: {
      serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
      prometheusRule: { enabled: true },
    },
  },
};

const MODELS: Record<string, { from: string; model: new (object: Json) => { validate(): void } }> = {
  StatefulSet: { from: "apps/v1", model: StatefulSet },
  Service: { from: "v1", model: Service },
  Secret: { from: "v1", model: Secret },
  ConfigMap: { from: "v1", model: ConfigMap },
  PersistentVolumeClaim: { from: "v1", model: PersistentVolumeClaim },
  Ingress: { from: "networking.k8s.io/v1", model: Ingress },
  NetworkPolicy: { from: "networking.k8s.io/v1", model: NetworkPolicy },
  PodDisruptionBudget: { from: "policy/v1", model: PodDisruptionBudget },
};
/** Kinds of the Prometheus operator, which Kubernetes does not know. */
const OF_THE_OPERATOR = ["ServiceMonitor", "PrometheusRule"];

let renderer: ChartRenderer;
let scratch: ScratchDir;

const find = (objects: Json[], kind: string, suffix = "") =>
  objects.find((one) => one.kind === kind && one.metadata.name === `gateway-waygate${suffix}`);
const render = async (name: string) => (await renderer.render(INSTALLATIONS[name])).objects;

describe("the Helm chart", needs("helm"), () => {
  beforeAll(async () => {
    renderer = await createChartRenderer();
    scratch = await makeScratchDir("waygate-objects-");
    return async () => {
      await renderer.remove();
      await scratch.remove();
    };
  });

  test.each(Object.keys(INSTALLATIONS))("makes objects that Kubernetes accepts, %s", async (name) => {
    const objects = await render(name);
    expect(objects.length).toBeGreaterThan(3);
    for (const object of objects.filter(({ kind }) => !OF_THE_OPERATOR.includes(kind))) {
      const { from, model: Model } = MODELS[object.kind] ?? {};
      expect([from, Model], object.kind).not.toContain(undefined);
      expect(object.apiVersion).toBe(from);
      if (Model) expect(() => new Model(object).validate(), object.kind).not.toThrow();
    }
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  // Kubernetes and its validators silently ignore unknown fields.
  test("uses no field that Kubernetes does not know, in any installation", async () => {
    const objects = (await Promise.all(Object.keys(INSTALLATIONS).map(render))).flat();
    const known = objects.filter(({ kind }) => MODELS[kind]);
    expect(findUnknownFields(scratch.path, await writeObjects(scratch.path, known))).toBe("");
    const [misspelt] = known.filter(({ kind }) => kind === "StatefulSet").map((one) => structuredClone(one));
    misspelt.spec.template.spec.securityContext.runAsNonroot = true;
    const output = findUnknownFields(scratch.path, await writeObjects(scratch.path, [misspelt]));
    expect(output).toContain("runAsNonroot");
  });

  test("gives every node an environment with which the gateway starts", async () => {
    const objects = await render("with the secrets alone");
    const [container] = find(objects, "StatefulSet").spec.template.spec.containers;
    const own = container.env.flatMap(({ name, value }: Json) =>
      value === undefined ? [] : [[name, value]],
    );
    const sources = container.envFrom.map(({ configMapRef, secretRef }: Json) =>
      configMapRef
        ? objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === configMapRef.name)
            .data
        : objects.find(({ kind, metadata }) => kind === "Secret" && metadata.name === secretRef.name)
            .stringData,
    );
    // As in Kubernetes, the last source wins.
    const environment = Object.assign({}, ...sources, Object.fromEntries(own));
    environment.WAYGATE_NODE_URL = environment.WAYGATE_NODE_URL.replace("$(POD_NAME)", "gateway-waygate-0");
    expect(readConfig({ NODE_ENV: "production", ...environment })).toMatchObject({
      nodeUrl: "http://gateway-waygate-0.gateway-waygate-nodes:3000",
      backupDir: "/files/backups",
    });
    expect(environment.WAYGATE_MEDIA).toBe("file:///files/media");
    expect(find(objects, "Service", "-nodes").spec).toMatchObject({ clusterIP: "None" });
    expect(find(objects, "StatefulSet").spec.serviceName).toBe("gateway-waygate-nodes");
  });

  test("keeps files on the volume with a foreign secret too, unless that names a bucket", async () => {
    const objects = await render("with a foreign secret, an existing claim and an ingress");
    expect(find(objects, "ConfigMap", "-defaults").data).toEqual({ WAYGATE_MEDIA: "file:///files/media" });
    const [container] = find(objects, "StatefulSet").spec.template.spec.containers;
    expect(container.envFrom).toEqual([
      { configMapRef: { name: "gateway-waygate-defaults" } },
      { secretRef: { name: "my-secret" } },
    ]);
  });

  test("keeps backups and the log of erasures on a claim that outlives the release", async () => {
    const objects = await render("with the secrets alone");
    const claim = find(objects, "PersistentVolumeClaim", "-files");
    expect(claim.spec.accessModes).toEqual(["ReadWriteMany"]);
    expect(claim.metadata.annotations["helm.sh/resource-policy"]).toBe("keep");
    const { spec } = find(objects, "StatefulSet").spec.template;
    const volume = { name: "files", persistentVolumeClaim: { claimName: claim.metadata.name } };
    expect(spec.volumes).toContainEqual(volume);
    expect(spec.containers[0].volumeMounts).toContainEqual({ name: "files", mountPath: "/files" });
    const existing = await render("with a foreign secret, an existing claim and an ingress");
    expect(existing.filter(({ kind }) => kind === "PersistentVolumeClaim")).toEqual([]);
    expect(JSON.stringify(existing)).toContain('"claimName":"my-claim"');
  });

  test("names its image by the version of the chart, or by a digest", async () => {
    const imageOf = async (image: Json) => {
      const { objects } = await renderer.render({ secrets: SECRETS, image });
      return find(objects, "StatefulSet").spec.template.spec.containers[0].image;
    };
    const digest = `sha256:${"0".repeat(64)}`;
    expect(await imageOf({})).toMatch(/^waygate:\d+\.\d+\.\d+/);
    expect(await imageOf({ tag: "edge" })).toBe("waygate:edge");
    expect(await imageOf({ tag: "edge", digest })).toBe(`waygate@${digest}`);
    await expect(imageOf({ digest: "0".repeat(64) })).rejects.toThrow("image.digest");
  });

  test("makes no backups without a volume, and says so", async () => {
    const { objects, notes } = await renderer.render(
      INSTALLATIONS["with a bucket and no volume, budget or policy"],
    );
    const [container] = find(objects, "StatefulSet").spec.template.spec.containers;
    expect(container.env).toContainEqual({ name: "WAYGATE_BACKUP_AT", value: "off" });
    expect(notes).toContain("No backups are made");
  });

  test("passes numbers and truth values as the gateway reads them", async () => {
    const objects = await render("with a bucket and no volume, budget or policy");
    const [container] = find(objects, "StatefulSet").spec.template.spec.containers;
    const settings = [
      { name: "WAYGATE_MEDIA_MAX_MB", value: "50" },
      { name: "WAYGATE_UNKNOWN_RATE", value: "1000000" },
      { name: "WAYGATE_HTTPS_ONLY", value: "true" },
    ];
    expect(container.env).toEqual(expect.arrayContaining(settings));
  });

  test("runs without rights and foreign variables on a read-only root, with three probes and time to stop", async () => {
    const { spec } = find(await render("with the secrets alone"), "StatefulSet").spec.template;
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 40,
      securityContext: { runAsNonRoot: true },
    });
    const [container] = spec.containers;
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const paths = ["startupProbe", "livenessProbe", "readinessProbe"].map(
      (name) => container[name].httpGet.path,
    );
    expect(paths).toEqual(["/health/live", "/health/live", "/health/ready"]);
  });

  test("opens the nodes to named peers, and to Prometheus when it scrapes them, each node once", async () => {
    const policy = async (name: string) => find(await render(name), "NetworkPolicy").spec.ingress[0].from;
    expect(await policy("with a foreign secret, an existing claim and an ingress")).toHaveLength(2);
    expect(JSON.stringify(await policy("with the Prometheus operator"))).toContain('"monitoring"');
    const objects = await render("with the Prometheus operator");
    const monitor = find(objects, "ServiceMonitor").spec;
    const selected = objects.filter(({ kind, metadata }) =>
      kind === "Service"
        ? Object.entries(monitor.selector.matchLabels).every(
            ([label, value]) => metadata.labels[label] === value,
          )
        : false,
    );
    expect(selected.map(({ metadata }) => metadata.name)).toEqual(["gateway-waygate-nodes"]);
    expect(selected[0].metadata.labels[monitor.jobLabel]).toBe("waygate");
    expect(monitor.endpoints[0].authorization.credentials).toEqual({
      name: "gateway-waygate",
      key: "WAYGATE_METRICS_TOKEN",
    });
    const { groups } = find(objects, "PrometheusRule").spec;
    expect(groups[0].rules.length).toBeGreaterThan(10);
    expect(groups[0].rules[0].annotations.summary).toContain("{{ $labels.instance }}");
  });

  test.each([
    ["no database", { secrets: { ...SECRETS, DATABASE_URL: "" } }, "secrets.DATABASE_URL is required"],
    [
      "several nodes on a volume for one",
      { secrets: SECRETS, files: { accessModes: ["ReadWriteOnce"] } },
      "several nodes",
    ],
    [
      "neither a bucket nor a volume",
      { secrets: SECRETS, files: { enabled: false } },
      "WAYGATE_MEDIA is required",
    ],
    [
      "Prometheus without a token",
      { secrets: SECRETS, monitoring: { serviceMonitor: { enabled: true } } },
      "needs secrets.WAYGATE_METRICS_TOKEN",
    ],
    [
      "a misspelt value",
      { secrets: SECRETS, replica: 3 },
      "values don't meet the specifications of the schema",
    ],
    [
      "a setting that the chart makes",
      { secrets: SECRETS, settings: { WAYGATE_PORT: 1 } },
      "values don't meet the specifications of the schema",
    ],
  ])("refuses %s with the reason", async (_, values, reason) => {
    await expect(renderer.render(values)).rejects.toThrow(reason);
  });
});

/** One typed constant for each object, so that the compiler reports unknown fields. */
async function writeObjects(folder: string, objects: Json[]): Promise<string> {
  const lines = objects.map((object, nth) => {
    const from = join(ROOT, "node_modules/kubernetes-models", MODELS[object.kind]?.from ?? "");
    return `export const object${nth}: import("${from}/index").I${object.kind} = ${JSON.stringify(object)};\n`;
  });
  const path = join(folder, "objects.ts");
  await writeFile(path, lines.join(""));
  return path;
}

/** The compiler's errors; empty without any. */
function findUnknownFields(cwd: string, path: string): string {
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", ""];
  try {
    execFileSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...options, path], {
      cwd,
    });
    return "";
  } catch (error) {
    return String((error as { stdout?: Buffer }).stdout);
  }
}
