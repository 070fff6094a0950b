import type { Reporter, TestModule, Vitest } from "vitest/node";

/**
 * Reports test files that cannot be loaded or set up as errors of the run. Stryker looks at tests only, so it would take
 * a mutant that breaks every file for one that no test notices.
 */
export class LoadErrorReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestModuleEnd(module: TestModule): void {
    const suites = [module, ...module.children.allSuites()];
    for (const error of suites.flatMap((suite) => suite.errors()))
      this.#vitest?.state.catchError(error, "Load Error");
  }
}
