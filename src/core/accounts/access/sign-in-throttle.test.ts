import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../../test/database.ts";
import { createSignInThrottle, type SignInThrottle } from "./sign-in-throttle.ts";

const SECRET = "s".repeat(43);
const BIA = "bia@example.com";
const REFUSED = { code: "RATE_LIMITED" };

let test: TestDatabase;
let throttle: SignInThrottle;
let networks = 0;

beforeAll(async () => {
  test = await createTestDatabase();
  throttle = node();
});
afterAll(() => test.drop());
beforeEach(() => sql`delete from use_counter`.execute(test.database.db));

/** Another process on the same database. */
const node = () => createSignInThrottle({ db: test.database.db, digestKey: SECRET });

interface Try {
  email?: string;
  ip?: string;
  device?: string;
  on?: SignInThrottle;
}

async function attempt(
  how: "right" | "wrong" | "cancelled",
  { email = BIA, on = throttle, ...from }: Try = {},
) {
  const begun = await on.begin(email, { ip: "192.0.2.1", ...from });
  await begun.end(how);
  return begun.networkWait;
}

async function failTimes(times: number, options: Try = {}): Promise<void> {
  for (let i = 0; i < times; i++) await attempt("wrong", options);
}

const elsewhere = () => `10.${networks++ >> 8}.${networks & 255}.1`;

/** Fails five times, and starts the resulting wait in an hour so that it cannot end during the test. */
async function useUp(options: Try = {}): Promise<void> {
  await failTimes(5, options);
  await pass(-3_600);
}

async function pass(seconds: number): Promise<void> {
  const by = sql`make_interval(secs => ${seconds})`;
  await sql`update use_counter set started_at = started_at - ${by}, last_at = last_at - ${by}`.execute(
    test.database.db,
  );
}

describe("wrong sign-ins at one e-mail address from one network", () => {
  it("cause no wait for five failures; each further failure doubles the wait, up to 15 minutes", async () => {
    await failTimes(5);
    for (const [failures, seconds] of [
      [11, 64],
      [12, 128],
      [14, 512],
      [15, 900],
      [1_000, 900],
    ] as const) {
      await sql`update use_counter set uses = ${failures}, last_at = now() where kind = 'pair'`.execute(
        test.database.db,
      );
      const { retryAfterSeconds: wait } = await attempt("right").catch((refusal) => refusal);
      // However long this test waited for a CPU.
      expect(wait).toBeLessThanOrEqual(seconds);
      expect(wait).toBeGreaterThan(seconds / 2);
    }
    await pass(900);
    await attempt("right");
  });

  it("are deleted after a successful sign-in, and after 15 minutes without a failure", async () => {
    await failTimes(4);
    await attempt("right");
    await failTimes(4);
    await pass(15 * 60 + 2);
    await failTimes(5);
  });

  it("are counted by all nodes together", async () => {
    const other = node();
    for (let i = 0; i < 5; i++) await attempt("wrong", { on: i % 2 === 0 ? throttle : other });
    await pass(-3_600);
    for (const on of [throttle, other]) await expect(attempt("right", { on })).rejects.toMatchObject(REFUSED);
  });

  it("do not slow down another e-mail address, nor the same one from another network", async () => {
    await useUp();
    await attempt("right", { email: "caio@example.com" });
    await attempt("right", { ip: "198.51.100.7" });
  });

  it("count even if the process died before it knew the result", async () => {
    for (let i = 0; i < 5; i++) await node().begin(BIA, { ip: "192.0.2.1" });
    await pass(-3_600);
    await expect(attempt("right", { on: node() })).rejects.toMatchObject(REFUSED);
  });

  it("count only after the check, and correct sign-ins at the same moment all succeed", async () => {
    for (let i = 0; i < 30; i++) await attempt("cancelled");
    await Promise.all(Array.from({ length: 15 }, () => attempt("right")));
  });
});

describe("wrong sign-ins from one network", () => {
  it("leave only right passwords after twenty in 15 minutes, whatever the e-mail address", async () => {
    for (let i = 0; i < 20; i++) expect(await attempt("wrong", { email: `user${i}` })).toBe(0);
    for (const how of ["right", "cancelled", "wrong"] as const) {
      const wait = await attempt(how);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(900);
    }
    expect(await attempt("right", { ip: "192.0.2.8" })).toBe(0);
    await pass(900);
    expect(await attempt("right")).toBe(0);
  });

  it("still count for their e-mail address once the network has failed too often", async () => {
    for (let i = 0; i < 20; i++) await attempt("wrong", { email: `user${i}` });
    await useUp();
    await expect(attempt("right")).rejects.toMatchObject(REFUSED);
  });

  it("are counted together for a whole IPv6 /64", async () => {
    for (let i = 0; i < 20; i++) await attempt("wrong", { email: `user${i}`, ip: `2001:db8:1:2::${i + 1}` });
    expect(await attempt("right", { ip: "2001:db8:1:2:ffff::9" })).toBeGreaterThan(0);
    expect(await attempt("right", { ip: "2001:db8:1:3::1" })).toBe(0);
  });

  it("are counted together for a whole IPv6 /48 as well, as those of ten networks", async () => {
    const ip = (nth: number) => `2001:db8:7:${nth.toString(16)}::1`;
    for (let i = 0; i < 200; i++) await attempt("wrong", { email: `user${i}`, ip: ip(i) });
    expect(await attempt("right", { ip: ip(1_000) })).toBeGreaterThan(0);
    expect(await attempt("right", { ip: "2001:db8:8::1" })).toBe(0);
  });

  it("are counted per IPv4 address, even if the gateway listens on IPv6", async () => {
    for (let i = 0; i < 20; i++) await attempt("wrong", { email: `user${i}`, ip: "::ffff:192.0.2.9" });
    for (const ip of ["::ffff:192.0.2.9", "::ffff:c000:209", "192.0.2.9"])
      expect(await attempt("right", { ip })).toBeGreaterThan(0);
    expect(await attempt("right", { ip: "::ffff:192.0.2.10" })).toBe(0);
  });

  it("are deleted an hour later, also by failed sign-ins", async () => {
    await failTimes(1);
    await pass(3_601);
    await attempt("wrong", { email: "caio@example.com", ip: "192.0.2.77" });
    const left = await sql`select from use_counter`.execute(test.database.db);
    expect(left.rows).toHaveLength(3);
  });
});

describe("a known device", () => {
  const device = "AAAAAAAAAAAAAAAAAAAAAA";

  it("signs in while its network and its e-mail address are flooded with wrong passwords", async () => {
    for (let i = 0; i < 100; i++) await attempt("wrong", { ip: elsewhere() });
    await expect(attempt("right", { ip: elsewhere() })).rejects.toMatchObject(REFUSED);
    for (let i = 0; i < 20; i++) await attempt("wrong", { email: `user${i}` });
    await expect(attempt("right")).rejects.toMatchObject(REFUSED);
    await attempt("right", { device });
  });

  it("is slowed down by its own failures", async () => {
    await useUp({ device });
    await expect(attempt("right", { device })).rejects.toMatchObject(REFUSED);
  });
});
