import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../logging/logger.ts'
import { openProject } from './open-project.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolpost-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

async function open(config: object) {
  const file = join(folder, 'toolpost.json')
  await writeFile(file, JSON.stringify(config))
  return openProject({ file, logger: () => silentLogger, say: () => {} })
}

describe('openProject', () => {
  it('gives the tools of a configuration and runs them; servers are not started', async () => {
    const declared = {
      name: 'greet',
      description: 'Greets',
      parameters: { type: 'object' },
      implementation: { type: 'mock', mock_response: 'hello' },
    }
    const project = await open({ tools: [declared], model: 'offline' })
    expect(await project.executor.run({ name: 'greet', args: {} })).toMatchObject({
      success: true,
      result: 'hello',
    })
    expect(project.config.model).toBe('offline')
    expect(await project.ready()).toEqual([])
    await project.close()
  })

  it('has the local tools that `local` names', async () => {
    const names = async (config: object) => {
      const project = await open(config)
      await project.close()
      return project.tools.getTools().map(({ name }) => name)
    }
    expect(await names({})).toEqual(expect.arrayContaining(['datetime', 'search', 'volume', 'echo']))
    expect(await names({ local: ['datetime'] })).toEqual(['datetime'])
    expect(await names({ local: false })).toEqual([])
  })
})
