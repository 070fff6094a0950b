import { expect, test } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.ts";

const at = (seconds: number) => seconds * 1000;
const failure = (seconds: number) =>
  ({ success: false, weight: 1, beganAt: at(seconds), at: at(seconds) + 10 }) as const;
const success = (seconds: number) => ({ ...failure(seconds), success: true }) as const;

test("a few failures do not open the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 9; n++) expect(breaker.record(failure(n))).toBeUndefined();
});

test("the tenth failure pauses for 30 s, and each failed probe doubles the pause up to 10 minutes", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 9; n++) breaker.record(failure(n));
  const pauses = Array.from({ length: 7 }, (_, n) => breaker.record(failure(10 + n)));
  expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
});

test("one success after a pause closes the circuit breaker and clears its failures", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 10; n++) breaker.record(failure(n));
  expect(breaker.record(success(40))).toBeUndefined();
  for (let n = 0; n < 9; n++) expect(breaker.record(failure(41 + n))).toBeUndefined();
});

test("the breaker stays closed at three successes in ten, and opens below that", () => {
  const fair = new CircuitBreaker();
  for (let n = 0; n < 20; n++) expect(fair.record(n % 3 === 0 ? success(n) : failure(n))).toBeUndefined();
  const poor = new CircuitBreaker();
  const pauses = Array.from({ length: 20 }, (_, n) => poor.record(n % 6 === 0 ? success(n) : failure(n)));
  expect(pauses.some((pause) => pause !== undefined)).toBe(true);
});

test("a failure older than five minutes does not count for the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 9; n++) breaker.record(failure(n));
  expect(breaker.record(failure(400))).toBeUndefined();
});

test("rejections that a retry will not change count double for the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  const pauses = Array.from({ length: 5 }, (_, n) => breaker.record({ ...failure(n), weight: 2 }));
  expect(pauses).toEqual([undefined, undefined, undefined, undefined, 30_000]);
});

test("an attempt that started before the pause is not a probe and does not extend the pause", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 9; n++) breaker.record(failure(n));
  const late = { ...failure(9), at: at(12) };
  expect(breaker.record(failure(10))).toBe(30_000);
  expect(breaker.record(late)).toBeUndefined();
  expect(breaker.record(failure(41))).toBe(60_000);
});
