import type { Reporter, TestCase } from "vitest/node";

/** Lists the tests that passed only at their second try: each is a defect to mend, however green the run is. */
export class SecondTryReporter implements Reporter {
  private readonly unsteady: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const [first] = test.result().errors ?? [];
    this.unsteady.push(`${test.module.relativeModuleId} > ${test.fullName}: ${first?.message}`);
  }

  onTestRunEnd(): void {
    if (this.unsteady.length === 0) return;
    process.stdout.write(`\n Passed only at the second try, to be mended:\n`);
    for (const name of this.unsteady) process.stdout.write(`   ${name}\n`);
  }
}
