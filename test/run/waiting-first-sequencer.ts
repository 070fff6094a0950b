import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that wait for most of their time, beside those with a process of their own. */
const WAITING = /\/(undeliverable|cluster-member|whatsapp-driver)\./;

/**
 * Begins with what waits for long, of which the size of a file says nothing, so that none of it is left alone at the end.
 * Files that share a process come last and in a row, since a file of its own between them ends the shared one.
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
