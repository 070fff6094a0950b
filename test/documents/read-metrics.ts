/** One series of the text format of Prometheus. */
export interface ServedSeries {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface ServedMetrics {
  /** By name; a metric that has no series at the moment is listed too, with none. */
  readonly series: ReadonlyMap<string, ServedSeries[]>;
  /** The value of the first series with these labels. */
  value(name: string, labels?: Record<string, string>): number | undefined;
  /** The values of a label over all series of a metric. */
  valuesOf(name: string, label: string): Set<string>;
}

const SERIES = /^([\w:]+)(?:\{(.*)\})? (\S+)$/;

/** Reads the response of `/metrics`. */
export function readMetrics(text: string): ServedMetrics {
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
