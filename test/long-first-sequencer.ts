import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Also files that wait for most of their time. */
const LONG = /\.long\.test\.ts$|\/(send-safety|cluster-member|whatsapp-driver)\./;

/**
 * Begins with what takes long, of which the size of a file says nothing, so that none of it is left alone at the end.
 * Files that share a process come last and in a row, since a file of its own between them ends the shared one.
 */
export class LongFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      if (LONG.test(moduleId)) return 0;
      return project.config.isolate ? 1 : 2;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
