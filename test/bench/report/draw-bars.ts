import { formatFigure, type PointReport, type Scenario, type Spread } from "../scenario.ts";

const WIDTH = 760;
const LEFT = 270;
const RIGHT = 90;
const ROW = 44;
const TOP = 50;

/** Horizontal bars of the medians with the range of the runs; a grey bar below each is the limit of the same run. */
export function drawBars(
  title: string,
  { figure, limit }: Scenario["plot"],
  points: readonly PointReport[],
): string {
  const bars = points.map(({ label, figures }) => ({
    label,
    own: figures[figure],
    limit: limit === undefined ? undefined : figures[limit],
  }));
  const most = Math.max(1e-9, ...bars.flatMap(({ own, limit: top }) => [own?.most ?? 0, top?.most ?? 0]));
  const scale = (value: number) => (value / most) * (WIDTH - LEFT - RIGHT);
  const rows = bars.map((bar, n) => {
    const y = TOP + n * ROW;
    return [
      `<text x="${LEFT - 8}" y="${y + 15}" text-anchor="end">${escapeXml(bar.label)}</text>`,
      drawBar(y, 18, "#2f6fab", bar.own, scale),
      drawBar(y + 20, 10, "#b0b0b0", bar.limit, scale),
    ].join("");
  });
  const words = [figure, ...(limit === undefined ? [] : [`grey: ${limit}`])].join(", ").replaceAll("_", " ");
  const height = TOP + bars.length * ROW + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="20" font-size="15">${escapeXml(title)}</text>
<text x="12" y="38" fill="#555555">${escapeXml(words)}</text>
${rows.join("\n")}
</svg>
`;
}

function drawBar(
  y: number,
  height: number,
  colour: string,
  spread: Spread | undefined,
  scale: (value: number) => number,
): string {
  if (!spread) return "";
  const { median, least, most } = spread;
  const middle = y + height / 2;
  const end = LEFT + scale(most) + 6;
  return [
    `<rect x="${LEFT}" y="${y}" width="${scale(median).toFixed(1)}" height="${height}" fill="${colour}"/>`,
    `<path d="M${(LEFT + scale(least)).toFixed(1)} ${middle}H${(LEFT + scale(most)).toFixed(1)}" stroke="#222222"/>`,
    `<text x="${end.toFixed(1)}" y="${middle + 4}">${formatFigure(median)}</text>`,
  ].join("");
}

function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
