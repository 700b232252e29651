import type { Clock } from 'toolpost'
import type { Project } from 'toolpost/project'
import type { Grammar } from '../listening/grammar.ts'

/** How long speech waits for device names while servers are starting; then it is transcribed without them. */
const WAIT_FOR_NAMES_MS = 3_000

/**
 * The sentences that a project understands without a model, with device names as soon as those are known; undefined if
 * everything goes to a model.
 */
export function grammarOf(
  project: Pick<Project, 'model' | 'ready' | 'executor'>,
  clock: Clock,
): () => Promise<Grammar | undefined> {
  let names: Promise<unknown> | undefined
  return async () => {
    const { sentences, client } = await project.model()
    if (!sentences) return undefined
    const { executor } = project
    names ??= project.ready()
    await inTime(
      names.then(() => sentences.refresh({ executor })),
      clock,
    )
    return {
      graph: () => sentences.graph({ executor }),
      understand: messages => sentences.understand(messages, { executor }),
      // A model may work out which name was meant.
      unspeakable: () => (client === sentences ? sentences.unspeakable({ executor }) : []),
    }
  }
}

function inTime(work: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    const timer = clock.setTimer(resolve, WAIT_FOR_NAMES_MS)
    const end = () => {
      timer.cancel()
      resolve()
    }
    work.then(end, end)
  })
}
