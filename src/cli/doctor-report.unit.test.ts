import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import type { DoctorFinding } from "../features/health/doctor-checks.ts";
import { toDoctorReport } from "./doctor-report.ts";

const about = (detail: string, fix?: string): DoctorFinding[] => [
  { label: "media store", grade: "warn", detail, ...(fix !== undefined && { fix }) },
];
const detailOf = (detail: string, env = {}) => toDoctorReport(about(detail), env).checks[0]?.detail;

describe("the report of the doctor in JSON", () => {
  test("names each check without spaces, with null for a fix that is not needed", () => {
    expect(toDoctorReport(about("slow", "Buy a disk."), {}).checks).toEqual([
      { check: "media_store", grade: "warn", detail: "slow", fix: "Buy a disk." },
    ]);
    expect(toDoctorReport(about("fine"), {}).checks[0]?.fix).toBeNull();
  });

  test("is healthy unless a check failed", () => {
    expect(toDoctorReport(about("x"), {}).healthy).toBe(true);
    expect(toDoctorReport([{ label: "port", grade: "fail", detail: "x" }], {}).healthy).toBe(false);
  });

  test("masks passwords, paths that may be tokens, and queries of addresses", () => {
    expect(detailOf("postgres://ana:pa55@db.example/shop is away")).toBe(
      "postgres://***@db.example/shop is away",
    );
    expect(detailOf("see https://x.example/T0kenT0ken?key=abc.")).toBe("see https://x.example/***?key=***");
  });

  test("masks the value of every variable that may be a secret, wherever it appears", () => {
    const env = { WAYGATE_SECRET_KEY: "8fJ2mQ7vXc4RtY9w", PATH: "/usr/bin", PGPASSWORD: " a-good-one " };
    expect(detailOf("key 8fJ2mQ7vXc4RtY9w, a-good-one, /usr/bin", env)).toBe("key ****, ****, /usr/bin");
  });

  test("does not name the user of the home directory", () => {
    expect(detailOf(`${homedir()}/data: 5 MiB free`)).toBe("~/data: 5 MiB free");
  });
});
