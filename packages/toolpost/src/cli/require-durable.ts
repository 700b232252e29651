import { missingDurable } from '../project/durable/project-durable.ts'
import type { Project } from '../project/project.ts'
import { UsageError } from './exit-codes.ts'

/** Throws if durable calls are configured but their package is not installed. */
export function requireDurable({ config }: Pick<Project, 'config'>): void {
  const install = config.durable ? missingDurable() : undefined
  if (install) throw new UsageError(`'durable' in the configuration needs another package; run: ${install}`)
}

/** Starts durable calls for a command that needs them. Throws if they are unavailable, and says what to do. */
export async function openDurable(project: Project) {
  if (!project.config.durable)
    throw new UsageError('Durable calls are off: set "durable" in toolpost.json, see docs/durable.md')
  requireDurable(project)
  await project.startDurable()
  const { state, text } = project.status().durable ?? { state: 'failed', text: 'not started' }
  const runs = project.durable()
  if (!runs || state !== 'ready') throw new UsageError(`Durable calls are unavailable: ${text}`)
  return runs
}
