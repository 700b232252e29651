import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Starts with what takes longest, so that the last worker does not finish long after the others: first the tests in separate
 * processes, then those of whole programs. A worker is kept only as long as the next file may share it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const alone = sorted.filter(isAlone)
    const shared = sorted.filter(file => !isAlone(file))
    return [...alone, ...shared.sort((a, b) => rank(a) - rank(b))]
  }
}

const isAlone = ({ project }: TestSpecification): boolean => project.config.isolate

const rank = ({ moduleId }: TestSpecification): number => (/\/(tests?|cli)\//.test(moduleId) ? 1 : 2)
