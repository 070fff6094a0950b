import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { SEND_ERROR } from "../src/core/messages/send/send-error.ts";
import { ERROR_CODES } from "../src/platform/error-codes.ts";
import { FINDINGS, type Finding } from "../src/platform/findings.ts";
import { waitUntil } from "./gateway.ts";
import { ROOT } from "./source-files.ts";
import { type MessagingStory, startMessagingStory } from "./stories/messaging-story.ts";

/** A series in Prometheus' text format. */
interface ServedSeries {
  name: string;
  labels: Record<string, string>;
  value: number;
}

interface ServedMetrics {
  /** By name, including metrics without series. */
  readonly series: ReadonlyMap<string, ServedSeries[]>;
  /** Value of the first series with these labels. */
  value(name: string, labels?: Record<string, string>): number | undefined;
  /** Values of a label over all series of a metric. */
  valuesOf(name: string, label: string): Set<string>;
}

const SERIES = /^([\w:]+)(?:\{(.*)\})? (\S+)$/;

/** Parses the response of `/metrics`. */
function readMetrics(text: string): ServedMetrics {
  const series = new Map<string, ServedSeries[]>();
  const seriesOf = (name: string) => series.get(name) ?? series.set(name, []).get(name) ?? [];
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const declared = /^# TYPE (\S+) (gauge|counter)$/.exec(line)?.[1];
    if (declared !== undefined) seriesOf(declared);
    if (line.startsWith("#")) continue;
    const [, name = "", list = "", value] = SERIES.exec(line) ?? [];
    if (name === "") throw new Error(`/metrics has a line that is no series: ${line}`);
    const pairs = [...list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", one = ""]) => [
      label,
      one,
    ]);
    seriesOf(name).push({ name, labels: Object.fromEntries(pairs), value: Number(value) });
  }
  const has = (one: ServedSeries, labels: Record<string, string>) =>
    Object.entries(labels).every(([label, value]) => one.labels[label] === value);
  return {
    series,
    value: (name, labels = {}) => series.get(name)?.find((one) => has(one, labels))?.value,
    valuesOf: (name, label) => new Set(series.get(name)?.flatMap(({ labels }) => labels[label] ?? [])),
  };
}

/** A selector of an expression, such as `up{job="waygate"}`. */
interface MetricSelector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

interface PromqlExpression {
  selectors: MetricSelector[];
  /** Labels of `by (...)`, each with the metrics that it groups. */
  groups: { label: string; metrics: string[] }[];
  /** Texts with parse errors. */
  errors: string[];
}

type Node = ReturnType<typeof parser.parse>["topNode"];

/** Selectors and groups of a PromQL expression, by the grammar of Prometheus' own editor. */
function readPromql(text: string): PromqlExpression {
  const { topNode } = parser.parse(text);
  const textOf = ({ from, to }: Node) => text.slice(from, to);
  const selectors = (within: Node) =>
    descendants(within, "VectorSelector").map((node) => selectorOf(node, textOf));
  const groups = descendants(topNode, "AggregateExpr").flatMap((aggregate) => {
    const modifier = aggregate.getChild("AggregateModifier");
    const metrics = selectors(aggregate).map(({ metric }) => metric);
    const labels = modifier ? descendants(modifier, "LabelName") : [];
    return labels.map((label) => ({ label: textOf(label), metrics }));
  });
  const errors = descendants(topNode).filter(({ type }) => type.isError);
  return {
    selectors: selectors(topNode),
    groups,
    errors: errors.map((node) => `${node.from}: ${text.slice(node.from, node.from + 20)}`),
  };
}

function selectorOf(node: Node, textOf: (node: Node) => string): MetricSelector {
  const name = node.getChild("Identifier");
  const matchers = descendants(node, "UnquotedLabelMatcher").map((matcher) => {
    const [label, operator, value] = ["LabelName", "MatchOp", "StringLiteral"].map((kind) => {
      const part = matcher.getChild(kind);
      return part ? textOf(part) : "";
    });
    return { label: label ?? "", operator: operator ?? "", value: value?.slice(1, -1) ?? "" };
  });
  return { metric: name ? textOf(name) : "", matchers };
}

/** Descendants of a node in text order, optionally of one kind. */
function descendants(node: Node, kind?: string): Node[] {
  const found: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (kind === undefined || child.name === kind) found.push(child);
    found.push(...descendants(child, kind));
  }
  return found;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it needs of a foreign file
type Json = any;

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const TOKEN = "a-metrics-token-for-this-test";
const REFUSED = "5511999990001";

let story: MessagingStory;
let served: ServedMetrics;

async function fetchMetrics(): Promise<ServedMetrics> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${story.gateway.url}/metrics`, { headers });
  expect(response.status).toBe(200);
  return readMetrics(await response.text());
}

/** The metrics once they contain the story's events. */
async function metricsWith(isShown: (metrics: ServedMetrics) => boolean): Promise<ServedMetrics> {
  let metrics = await fetchMetrics();
  await waitUntil(async () => {
    metrics = await fetchMetrics();
    return isShown(metrics);
  });
  return metrics;
}

beforeAll(async () => {
  story = await startMessagingStory({ WAYGATE_METRICS_TOKEN: TOKEN });
  const { sales, friend, receiver } = story;
  const text = { id: sales.id, text: "Hello" };
  await sales.client.sendText({ ...text, number: friend.phone });
  await expect(sales.client.sendText({ ...text, number: REFUSED })).rejects.toThrow();
  await receiver.waitFor(({ body }) => body.event === "message.received");
  const unsupported = { kind: "placeholder", reason: "masked" } as const;
  await sales.client.sandboxReceive({ id: sales.id, from: "5511999990001", unsupported });
  await receiver.waitFor(({ body }) => body.data.message?.type === "unsupported");
  // From here on a delivery fails and waits for its next attempt.
  receiver.respond(500);
  await sales.client.sendText({ ...text, number: friend.phone });
  served = await metricsWith(
    (metrics) =>
      (metrics.value("waygate_webhook_attempts_total", { outcome: "failed" }) ?? 0) > 0 &&
      (metrics.value("waygate_webhooks", { state: "failing" }) ?? 0) > 0 &&
      (metrics.value("waygate_queue_jobs", { queue: "webhook" }) ?? 0) > 0,
  );
});

afterAll(() => story.stop());

const rules: Json[] = parse(read("deploy/helm/alerts.yml")).groups.flatMap((group: Json) => group.rules);
const dashboard: Json = JSON.parse(read("deploy/monitoring/dashboard.json"));
const panels: Json[] = dashboard.panels.filter(({ type }: Json) => type !== "row");
const [source, job]: Json[] = dashboard.templating.list;

describe("the metrics of a gateway", () => {
  test("report the node, its database and its volume", () => {
    expect(served.value("waygate_node_ready")).toBe(1);
    expect(served.value("waygate_database_available")).toBe(1);
    const free = served.value("waygate_data_volume_free_ratio") ?? -1;
    expect(free).toBeGreaterThan(0);
    expect(free).toBeLessThanOrEqual(1);
    for (const role of ["api", "sessions", "worker"]) expect(served.value("waygate_nodes", { role })).toBe(1);
  });

  test("count instances by status and webhooks by state, with a zero where there are none", () => {
    expect(served.value("waygate_instances", { status: "connected" })).toBe(2);
    expect(served.value("waygate_instances", { status: "error" })).toBe(0);
    expect(served.value("waygate_webhooks", { state: "disabled" })).toBe(0);
  });

  test("count sends by outcome with the code of a failure, received messages, and attempts", () => {
    expect(served.value("waygate_sends_total", { outcome: "sent", code: "" })).toBe(2);
    const codes = [...served.valuesOf("waygate_sends_total", "code")].filter((code) => code !== "");
    const failed = codes.map((code) => served.value("waygate_sends_total", { outcome: "failed", code }));
    expect(failed.filter((count) => count !== 0)).toEqual([1]);
    expect(served.value("waygate_messages_received_total")).toBe(3);
    expect(served.value("waygate_messages_unsupported_total", { reason: "masked" })).toBe(1);
    expect(served.value("waygate_webhook_attempts_total", { outcome: "delivered" })).toBeGreaterThan(0);
  });

  test("show the queues, the age of the backup and the problems of /health", () => {
    expect(served.value("waygate_queue_oldest_due_seconds", { queue: "webhook" })).toBeGreaterThanOrEqual(0);
    expect(served.value("waygate_queue_due_jobs", { queue: "webhook" })).toBeGreaterThanOrEqual(0);
    expect(served.value("waygate_backup_age_seconds")).toBeGreaterThanOrEqual(0);
    expect(served.value("waygate_production_blocker", { key: "held_back" })).toBe(0);
    // Exposing that a secret is weak would help an attacker.
    expect(served.value("waygate_production_blocker", { key: "weak_secret" })).toBeUndefined();
  });
});

/** Labels that Prometheus adds to every series. */
const TARGET_LABELS = ["job", "instance"];
/** Series that Prometheus adds for each target. */
const TARGET_SERIES = ["up"];
/** Labels whose values are served completely, including those that occur 0 times. */
const COMPLETE = [
  ["waygate_instances", "status"],
  ["waygate_webhooks", "state"],
  ["waygate_production_blocker", "key"],
  ["waygate_nodes", "role"],
  ["waygate_webhook_attempts_total", "outcome"],
  ["waygate_sends_total", "outcome"],
];

const CODES = new Set([...Object.keys(ERROR_CODES), ...Object.values(SEND_ERROR).map(({ code }) => code)]);

function labelsOf(metric: string): Set<string> {
  const all = served.series.get(metric) ?? [];
  return new Set([...TARGET_LABELS, ...all.flatMap(({ labels }) => Object.keys(labels))]);
}

/** Names in an expression that the gateway does not serve. */
function unserved({ selectors, groups, errors }: PromqlExpression): string[] {
  const known = (metric: string) => TARGET_SERIES.includes(metric) || served.series.has(metric);
  const ofGroups = groups.flatMap(({ label, metrics }) =>
    metrics
      .filter((metric) => !labelsOf(metric).has(label))
      .map((metric) => `${metric} has no label ${label}`),
  );
  const ofSelectors = selectors.flatMap(({ metric, matchers }) => [
    ...(known(metric) ? [] : [`no metric ${metric}`]),
    ...matchers.flatMap(({ label, value }) => {
      if (!labelsOf(metric).has(label)) return [`${metric} has no label ${label}`];
      if (label === "code") return value.split("|").filter((code) => !CODES.has(code));
      if (!COMPLETE.some(([name, of]) => name === metric && of === label)) return [];
      const values = served.valuesOf(metric, label);
      return value
        .split("|")
        .filter((one) => !values.has(one))
        .map((one) => `${metric} has no ${label} ${one}`);
    }),
  ]);
  return [...errors, ...ofSelectors, ...ofGroups];
}

/** Labels in a text such as `{{ $labels.queue }}` or `{{queue}}`. */
function labelsIn(text: string): string[] {
  return [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = ""]) => label);
}

/** Whether the result of an expression still has a label. */
function keepsLabel({ selectors, groups }: PromqlExpression, label: string): boolean {
  if (groups.length > 0) return groups.some((group) => group.label === label);
  return selectors.some(({ metric }) => labelsOf(metric).has(label));
}

describe("the alert rules", () => {
  test.each(rules.map((rule) => [`${rule.alert} (${rule.labels.severity})`, rule] as const))(
    "%s reads what the gateway serves",
    (_, rule) => {
      const expression = readPromql(rule.expr);
      expect(expression.selectors.length).toBeGreaterThan(0);
      expect(unserved(expression)).toEqual([]);
      const labels = labelsIn(rule.annotations.summary);
      expect(labels.filter((label) => !keepsLabel(expression, label))).toEqual([]);
      expect(["critical", "warning"]).toContain(rule.labels.severity);
      expect(rule.for ?? "0m").toMatch(/^\d+m$/);
    },
  );
});

/** Alerts that the gateway does not diagnose itself, each with the reason. */
const WITHOUT_FINDING = {
  WaygateNodeUnreachable: "a node that cannot be reached reports nothing",
  WaygateAbsent: "a node that cannot be reached reports nothing",
  WaygateNodeNotReady: "/health/ready is the report, and the balancer reads it",
  WaygateSendsUncertain: "message.failed reports each such message",
  WaygateDeliveriesFailing: "the monitor names each failing webhook with advice of its own",
  WaygateInstancesReconnecting: "the monitor names each instance: only many at once need a person now",
  WaygateRequestsFailing: "only the caller and the metrics see them",
  WaygateEventLoopDelayed: "a process that computes cannot report it in time",
};

describe("the findings of the gateway", () => {
  const findings: [string, Finding][] = Object.entries(FINDINGS);

  test("are linked from every alert that reports one", () => {
    const linked = findings.flatMap(([, { rule }]) => rule ?? []);
    const alerts = new Set<string>(rules.map(({ alert }) => alert));
    expect([...alerts].filter((alert) => !linked.includes(alert)).toSorted()).toEqual(
      Object.keys(WITHOUT_FINDING).toSorted(),
    );
  });

  test.each(findings.filter(([, { rule }]) => rule !== undefined))(
    "have rules with their own severity and limit: %s",
    (key, { rule, severity, limit, warnAt }) => {
      const own = rules.filter(({ alert }) => alert === rule);
      // /health has already applied the limit to what it reports by key.
      const reported = own.filter(({ expr }) => expr.includes("waygate_production_blocker"));
      const ofKey = reported.filter(({ expr }) => new RegExp(`[|"]${key}[|"]`).test(expr));
      const severities = (reported.length > 0 ? ofKey : own).map(({ labels }) => labels.severity);
      expect(severities).toContain(severity);
      for (const { labels, expr } of reported.length > 0 ? [] : own) {
        const from = labels.severity === severity ? limit : warnAt;
        if (from !== undefined) expect(expr).toMatch(new RegExp(`[<>]=? ${from}$`, "m"));
      }
    },
  );
});

describe("the Grafana dashboard", () => {
  const targets: [string, Json][] = panels.flatMap((panel) =>
    panel.targets.map((target: Json) => [`${panel.title} ${target.refId}`, target]),
  );

  test.each(targets)(
    "reads what the gateway serves in the panel %s",
    (_, { expr, legendFormat, datasource }) => {
      const expression = readPromql(expr.replaceAll("$__rate_interval", "5m"));
      expect(expression.selectors.length).toBeGreaterThan(0);
      expect(unserved(expression)).toEqual([]);
      expect(labelsIn(legendFormat).filter((label) => !keepsLabel(expression, label))).toEqual([]);
      expect(datasource.uid).toBe(`$\{${source.name}}`);
    },
  );

  test("selects the job by a metric that the gateway serves, in every panel", () => {
    expect(source).toMatchObject({ name: "datasource", type: "datasource", query: "prometheus" });
    const metric = /^label_values\((\w+), job\)$/.exec(job.query.query)?.[1] ?? "";
    expect(served.series.has(metric)).toBe(true);
    for (const [name, { expr }] of targets) {
      const jobs = readPromql(expr.replaceAll("$__rate_interval", "5m")).selectors.map(({ matchers }) =>
        matchers.find(({ label }) => label === "job"),
      );
      expect(
        jobs.map((matcher) => matcher?.value),
        name,
      ).toEqual(jobs.map(() => "$job"));
    }
  });
});
