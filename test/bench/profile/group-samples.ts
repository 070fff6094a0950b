import type { Profiler } from "node:inspector";

/** Where the time of a main thread went: a package, a folder of the gateway or a part of Node. */
export interface FrameGroup {
  name: string;
  ms: number;
  /** Of the time that the thread was not idle. */
  share: number;
}

const GATEWAY_FOLDER = /\/dist\/src\/(?:((?:features|network|platform)\/[^/]+)|([^/]+))/;
const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const NODE_PART = /^node:(?:internal\/)?([^/]+)/;

/** Self times, the longest first. */
export function groupSamples(profiles: readonly Profiler.Profile[]): FrameGroup[] {
  const times = new Map<string, number>();
  for (const { nodes, samples = [], timeDeltas = [] } of profiles) {
    const recording = findRecording(nodes);
    const groups = new Map(
      nodes.filter(({ id }) => !recording.has(id)).map(({ id, callFrame }) => [id, groupOf(callFrame)]),
    );
    for (const [index, id] of samples.entries()) {
      const group = groups.get(id);
      if (group !== undefined) times.set(group, (times.get(group) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
    }
  }
  times.delete("(idle)");
  const all = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  return [...times]
    .map(([name, ms]) => ({ name, ms, share: ms / all }))
    .sort((one, other) => other.ms - one.ms);
}

/** What the recording itself costs: the frames of the inspector and all below them. */
function findRecording(nodes: readonly Profiler.ProfileNode[]): Set<number> {
  const children = new Map(nodes.map((node) => [node.id, node.children ?? []]));
  const found = new Set<number>();
  const add = (id: number): void => {
    found.add(id);
    for (const child of children.get(id) ?? []) add(child);
  };
  for (const { id, callFrame } of nodes) if (callFrame.url.startsWith("node:inspector")) add(id);
  return found;
}

function groupOf({
  url,
  functionName,
}: Pick<Profiler.ProfileNode["callFrame"], "url" | "functionName">): string {
  if (url === "") return functionName.startsWith("(") ? functionName : `native ${functionName}`;
  const [, part] = NODE_PART.exec(url) ?? [];
  if (part !== undefined) return `node:${part}`;
  const [, name] = PACKAGE.exec(url) ?? [];
  if (name !== undefined) return name;
  const [, feature, folder] = GATEWAY_FOLDER.exec(url) ?? [];
  const own = feature ?? folder;
  return own === undefined ? "others" : `src/${own}`;
}
