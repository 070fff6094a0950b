import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Short files that start processes, or run what another file describes. */
const LONG = /\/e2e\/|\/network\/whatsapp\/driver\./;

/** Begins with what takes long, of which the size of a file says nothing, so that none of it is left alone at the end. */
export class LongFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...bySize.filter(isLong), ...bySize.filter((file) => !isLong(file))];
  }
}
