import { expect, test } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.ts";

const at = (seconds: number) => 1_000_000 + seconds * 1000;
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

test("the breaker opens when exactly seven attempts in ten have failed", () => {
  const breaker = new CircuitBreaker();
  const results = [success(0), success(1), success(2), ...[3, 4, 5, 6, 7, 8, 9].map(failure)];
  expect(results.map((result) => breaker.record(result))).toEqual([...Array(9).fill(undefined), 30_000]);
});

test("a failure that is five minutes old does not count for the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  breaker.record(failure(0));
  for (let n = 1; n < 9; n++) breaker.record(failure(n));
  expect(breaker.record(failure(300))).toBeUndefined();
  expect(breaker.record(failure(300.5))).toBe(30_000);
});

test("only the last hundred attempts count for the circuit breaker", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 200; n++) breaker.record(success(n / 10));
  const pauses = Array.from({ length: 70 }, (_, n) => breaker.record(failure(20 + n / 10)));
  expect(pauses).toEqual([...Array(69).fill(undefined), 30_000]);
});

test("a failed probe doubles the pause even if all earlier failures are older than five minutes", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 10; n++) breaker.record(failure(n));
  expect(breaker.record(failure(400))).toBe(60_000);
});

test("attempts that began before a pause count again once the circuit breaker is closed", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 10; n++) breaker.record(failure(n));
  breaker.record(success(40));
  const late = Array.from({ length: 10 }, (_, n) => breaker.record({ ...failure(0), at: at(41 + n) }));
  expect(late.at(-1)).toBe(30_000);
});

test("a probe that begins in the moment of the pause counts as a probe", () => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < 10; n++) breaker.record(failure(n));
  expect(breaker.record({ ...failure(40), beganAt: failure(9).at })).toBe(60_000);
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
