import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { configFolder, configOf } from '../../test/config-folder.ts'
import { ConfigError } from './config.ts'

const KEYS = [
  'command',
  'args',
  'env',
  'url',
  'serverUrl',
  'httpUrl',
  'type',
  'transport',
  'timeout',
  'timeoutMs',
  'enabled',
  'disabled',
  'disabledTools',
  'tools',
  'autoApprove',
  'alwaysAllow',
  'source',
  'settings',
  'headers',
  'envFile',
  'cwd',
  '__proto__',
  'constructor',
]
const anyServer = fc.oneof(
  fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue(), { maxKeys: 8 }),
  fc.jsonValue(),
)
const anyServers = fc.dictionary(fc.string({ maxLength: 5 }), anyServer, { maxKeys: 4 })
const holders = ['mcpServers', 'servers', 'context_servers', 'mcp'] as const

describe('a server of any form', () => {
  it('[F59] fails with nothing but a ConfigError, and never becomes a server that nobody wrote', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...holders),
        anyServers,
        fc.boolean(),
        async (key, servers, isIncluded) => {
          const file = key === 'mcp' ? { mcp: { servers } } : { [key]: servers }
          const folder = configFolder(
            isIncluded
              ? { 'toolpost.json': { include: ['a.json'] }, 'a.json': file }
              : { 'toolpost.json': file },
          )
          try {
            const found = await configOf(folder)
            for (const name of Object.keys(found.servers)) expect(Object.keys(servers)).toContain(name)
            for (const [name, entry] of Object.entries(found.servers)) {
              if (Object.hasOwn(found.brokenServers, name)) continue
              expect([typeof entry.command, typeof entry.url].filter(type => type === 'string')).toHaveLength(
                1,
              )
            }
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigError)
          }
        },
      ),
      { numRuns: 150 },
    )
  }, 30_000)
})
