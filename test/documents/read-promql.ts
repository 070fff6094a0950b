import { parser } from "@prometheus-io/lezer-promql";

/** One selector of an expression, such as `up{job="waygate"}`. */
export interface MetricSelector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

export interface PromqlExpression {
  selectors: MetricSelector[];
  /** The labels of `by (...)`, each with the metrics that it groups. */
  groups: { label: string; metrics: string[] }[];
  /** The texts that the parser does not understand. */
  errors: string[];
}

type Node = ReturnType<typeof parser.parse>["topNode"];

/** What an expression of PromQL reads, by the grammar of Prometheus' own editor. */
export function readPromql(text: string): PromqlExpression {
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

/** The nodes below a node, of one kind if given, in the order of the text. */
function descendants(node: Node, kind?: string): Node[] {
  const found: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (kind === undefined || child.name === kind) found.push(child);
    found.push(...descendants(child, kind));
  }
  return found;
}
