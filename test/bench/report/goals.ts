/** A figure of a point that should be at least, or at most, a value. */
export interface PerformanceGoal {
  scenario: string;
  /** The beginning of the point's label. */
  point: string;
  figure: string;
  /** In words, where the name of the figure says too little. */
  text?: string;
  least?: number;
  most?: number;
  /** Another figure of the point that the bound is multiplied with. */
  times?: string;
}

const SENDS: PerformanceGoal[] = [
  { scenario: "sends", point: "1 session, 1 at once", figure: "p50_ms", most: 5 },
  { scenario: "sends", point: "1 session, 10 at once", figure: "ratio_to_library", least: 0.5 },
  { scenario: "sends", point: "1 session, 10 at once", figure: "p99_ms", most: 4, times: "p50_ms" },
  {
    scenario: "sends",
    point: "1 session, 10 at once",
    figure: "gateway_cpu_ms_beyond_library",
    most: 1,
  },
  { scenario: "sends", point: "1 session, 10 at once", figure: "database_cpu_ms", most: 0.6 },
  { scenario: "sends", point: "20 sessions, 40 at once", figure: "ratio_to_library", least: 0.6 },
  { scenario: "sends", point: "100 sessions, 100 at once", figure: "ratio_to_library", least: 0.6 },
];

const INBOUND: PerformanceGoal[] = [
  { scenario: "inbound", point: "1 session, 10/s", figure: "p50_ms", most: 6 },
  { scenario: "inbound", point: "1 session, 10/s", figure: "p99_ms", most: 20 },
  {
    scenario: "inbound",
    point: "1 session, 500/s",
    figure: "p99_ms",
    most: 250,
    text: "where Baileys alone sends 1,200/s",
  },
  { scenario: "inbound", point: "1 session, 500/s", figure: "gateway_cpu_ms", most: 1.2 },
  { scenario: "inbound", point: "1 session, 500/s", figure: "database_cpu_ms", most: 0.8 },
  {
    scenario: "inbound",
    point: "20 sessions, 700/s",
    figure: "p99_ms",
    most: 250,
    text: "where Baileys alone sends 1,200/s",
  },
  { scenario: "inbound", point: "1 session, 2000 at once", figure: "took_seconds", most: 4 },
];

const OTHERS: PerformanceGoal[] = [
  { scenario: "trickle", point: "10/s each way", figure: "gateway_cpu_ms", most: 3 },
  { scenario: "trickle", point: "10/s each way", figure: "database_cpu_ms", most: 2 },
  { scenario: "nodes", point: "400/s over 100", figure: "per_second", least: 390 },
  { scenario: "accepts", point: "1 session", figure: "per_second", least: 3000 },
  { scenario: "accepts", point: "1 session", figure: "p99_ms", most: 100 },
  { scenario: "deliveries", point: "2500/s", figure: "per_second", least: 2000 },
  { scenario: "deliveries", point: "400/s, and a receiver", figure: "rise_of_p99", most: 0.2 },
  { scenario: "stored", point: "1000000 messages", figure: "ratio_to_empty", least: 0.9 },
  { scenario: "stored", point: "1000000 messages", figure: "burst_ratio_to_empty", least: 0.9 },
  { scenario: "sessions", point: "500 sessions", figure: "ratio_to_one_session", least: 0.9 },
  { scenario: "sessions", point: "50 sessions", figure: "idle_stack_mb", most: 230 },
  { scenario: "sessions", point: "500 sessions", figure: "idle_mb_each", most: 0.6 },
  { scenario: "memory", point: "100000 texts", figure: "gateway_mb_more", most: 30 },
  { scenario: "starts", point: "cold", figure: "start_ms", most: 1500 },
  { scenario: "starts", point: "warm", figure: "start_ms", most: 600 },
  { scenario: "starts", point: "warm", figure: "stack_mb", most: 150, text: "at idle" },
];

export const GOALS: readonly PerformanceGoal[] = [...SENDS, ...INBOUND, ...OTHERS];
