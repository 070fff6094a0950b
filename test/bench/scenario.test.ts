import { expect, test } from "vitest";
import { PRESENT } from "./gateway-program.ts";
import { type BenchOptions, type Figures, runScenario, type Scenario } from "./scenario.ts";

const OPTIONS = { adapter: "none", seconds: 1, warmUpSeconds: 1, repetitions: 3, isShort: false };
const BEFORE = { ...PRESENT, name: "before" };

/** Notes the order of the runs, and which programs were closed. */
function scripted(measure: (options: BenchOptions, run: number) => Figures, more: Partial<Scenario> = {}) {
  const order: string[] = [];
  const closed: string[] = [];
  const scenario: Scenario = {
    title: "Scripted",
    plot: { figure: "per_second" },
    async open(options) {
      const { name } = options.program;
      const points = ["small", "large"].map((label) => {
        let runs = 0;
        return {
          label,
          async measure() {
            order.push(`${label} ${name}`);
            return measure(options, runs++);
          },
        };
      });
      return { points, close: async () => void closed.push(name) };
    },
    ...more,
  };
  return { scenario, order, closed };
}

test("two builds take turns at each point, and the newer one has its ratio to the older one", async () => {
  const perSecond = (name: string, run: number) => (name === "before" ? 100 : 200 + 100 * run);
  const { scenario, order, closed } = scripted(({ program }, run) => ({
    per_second: perSecond(program.name, run),
  }));
  const { points, failures } = await runScenario(scenario, { ...OPTIONS, repetitions: 2 }, [PRESENT, BEFORE]);
  const [once, then] = [
    ["small now", "small before", "large now", "large before"],
    ["small before", "small now", "large before", "large now"],
  ];
  expect(order).toEqual([...once, ...then]);
  expect(closed).toEqual(["before", "now"]);
  expect(failures).toEqual([]);
  expect(points.map(({ label }) => label)).toEqual(order.slice(0, 4).map((one) => one.replace(" ", ", ")));
  expect(points[0]?.figures.ratio_to_before).toEqual({ median: 3, least: 2, most: 3 });
  expect(points[1]?.figures).not.toHaveProperty("ratio_to_before");
});

test("a run that fails is reported, and the other runs count", async () => {
  const { scenario, closed } = scripted((_, run) => {
    if (run === 1) throw new Error("The receiver is gone.");
    return { per_second: run };
  });
  const { points, failures } = await runScenario(scenario, OPTIONS, [PRESENT]);
  expect(points.map(({ runs }) => runs)).toEqual([2, 2]);
  expect(points[0]?.figures.per_second).toEqual({ median: 2, least: 0, most: 2 });
  expect(failures).toEqual([
    expect.stringContaining("small, run 2 of 3: Error: The receiver is gone."),
    expect.stringContaining("large, run 2 of 3: Error: The receiver is gone."),
  ]);
  expect(closed).toEqual(["now"]);
});

test("a scenario with long runs has fewer of them than were asked for", async () => {
  const { scenario, order } = scripted(() => ({ per_second: 1 }), { mostRepetitions: 1 });
  await runScenario(scenario, OPTIONS, [PRESENT]);
  expect(order).toEqual(["small now", "large now"]);
});
