import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { configFolder } from '../../test/config-folder.ts'
import { silentLogger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { openProject } from './open-project.ts'

async function open(durable: string) {
  const folder = configFolder({ 'toolpost.json': `{ "durable":\n${durable} }` })
  const file = join(folder, 'toolpost.json')
  const project = await openProject({ file, logger: () => silentLogger, say: () => {} })
  await project.close()
  return project.config.durable
}

afterEach(() => void vi.unstubAllEnvs())

describe('durable in toolpost.json', () => {
  it('is true, false or an object, with the environment filled in', async () => {
    expect(await open('true')).toBe(true)
    expect(await open('false')).toBe(false)
    vi.stubEnv('TEST_DATABASE', 'postgres://me:Tr0ub4dor@db:5432/toolpost')
    const servers = { zwave: { concurrency: 2 } }
    const rest = { pool: 'home-1', tools: ['pay', 'x*'], concurrency: 4, servers, days: 90 }
    expect(await open(JSON.stringify({ databaseUrl: '${TEST_DATABASE}', ...rest }))).toEqual({
      databaseUrl: 'postgres://me:Tr0ub4dor@db:5432/toolpost',
      ...rest,
    })
    expect(safeText('it is Tr0ub4dor')).not.toContain('Tr0ub4dor')
  })

  it.each([
    ['"yes"', '2:1', 'durable'],
    ['{ "databaseUrl": "${NOT_SET_AT_ALL}" }', '2:18', 'NOT_SET_AT_ALL is not set'],
    ['{ "databaseUrl": "db:5432" }', '2:18', 'is not a PostgreSQL URL'],
    ['{ "databaseUrl": "localhost" }', '2:18', 'is not a valid URL'],
    ['{ "databaseUrl": "mysql://me:hunter22@db/x" }', '2:18', "is not a PostgreSQL URL: '[removed]@db/x'"],
    ['{ "databaseUrl": "postgres://db:5432" }', '2:18', 'has no database name'],
    ['{ "pool": "a b" }', '2:11', 'pool'],
    ['{ "tools": ["{x}"] }', '2:13', "invalid pattern '{x}'"],
    ['{ "concurrency": 0 }', '2:18', 'concurrency'],
    ['{ "days": 0 }', '2:11', 'days'],
    ['{ "days": 1.5 }', '2:11', 'days'],
    ['{ "servers": { "pay": {} } }', '2:23', "needs 'concurrency' or 'perMinute'"],
    ['{ "servers": { "pay": { "queue": 1 } } }', '2:', 'queue'],
    ['{ "limits": { "pay": { "concurrency": 1 } } }', '2:13', "use 'durable.servers'"],
    ['{ "url": "postgres://db/x" }', '2:', 'url'],
  ])('[F41] is refused if it is %s, with the place', async (durable, place, problem) => {
    const refused = expect(open(durable)).rejects
    await refused.toThrow(`:${place}`)
    await expect(open(durable)).rejects.toThrow(problem)
  })
})
