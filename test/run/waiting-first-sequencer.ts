import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that mostly wait. */
const WAITING = /\/(undeliverable|cluster-member|whatsapp-driver)\./;

/**
 * Starts with long waits, which the size of a file does not show, so that none remains alone at the end. Files that
 * share a process come last, because an isolated file between them ends the shared process.
 */
export class WaitingFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      if (WAITING.test(moduleId)) return 0;
      return project.config.isolate ? 1 : 2;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
