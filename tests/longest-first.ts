import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Begins with what takes long, so that the last worker does not end long after the others: first the tests with a process of
 * their own, then those of whole programs. A worker is kept only for as long as the next file may share it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

function rank({ project, moduleId }: TestSpecification): number {
  if (project.config.isolate) return 0
  return /\/(tests?|cli)\//.test(moduleId) ? 1 : 2
}
