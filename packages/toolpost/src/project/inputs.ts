import { ConfigError } from '../config/config.ts'
import type { Description } from './open-project.ts'
import type { ProjectOptions } from './project-options.ts'

/** Asks for one input after the other until all are answered, or one is not; each answer takes effect with the next `read`. */
export async function withAnswers(
  description: Description,
  { answer, read }: Pick<ProjectOptions, 'answer' | 'read'>,
): Promise<Description> {
  const [input] = description.inputs ?? []
  if (!input || !answer || !(await answer(input))) return description
  try {
    return await withAnswers(await read(), { answer, read })
  } catch (error) {
    // The file changed while the person was typing.
    if (error instanceof ConfigError) return description
    throw error
  }
}
