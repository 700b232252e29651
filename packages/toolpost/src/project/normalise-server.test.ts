import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { configFolder, configOf } from '../../test/config-folder.ts'
import { ConfigError } from './config.ts'
import { normaliseServer } from './other-programs.ts'

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
const OURS = new Set([
  'type',
  'command',
  'args',
  'env',
  'envFile',
  'cwd',
  'url',
  'headers',
  'disabled',
  'timeoutMs',
  'include',
  'exclude',
])
const anyServer = fc.oneof(
  fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue(), { maxKeys: 8 }),
  fc.jsonValue(),
)
const anyServers = fc.dictionary(fc.string({ maxLength: 5 }), anyServer, { maxKeys: 4 })
const holders = ['mcpServers', 'servers', 'context_servers', 'mcp'] as const

describe('a server of any form', () => {
  it('becomes keys of ours, and every other key is named or understood', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue()), raw => {
        const { entry, ignored } = normaliseServer(raw, OURS)
        expect(Object.keys(entry).every(key => OURS.has(key))).toBe(true)
        for (const key of ignored) expect(Object.hasOwn(raw, key)).toBe(true)
      }),
    )
  })

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

  it.each([
    [60, 60_000],
    ['60', 60_000],
    [0.5, 500],
    [3_600, 3_600_000],
    [600_000, 600_000],
    [0, undefined],
    [-1, undefined],
    ['soon', undefined],
  ])('has a timeout of %j, which are %j ms', (timeout, timeoutMs) => {
    const { entry, ignored } = normaliseServer({ timeout }, OURS)
    expect(entry.timeoutMs).toBe(timeoutMs)
    expect(ignored).toEqual(timeoutMs === undefined ? ['timeout'] : [])
  })

  it('keeps our own words if both are there', () => {
    const raw = {
      timeoutMs: 5,
      timeout: 60,
      url: 'http://a',
      serverUrl: 'http://b',
      disabledTools: ['x'],
      exclude: ['y'],
    }
    expect(normaliseServer(raw, OURS).entry).toEqual({ timeoutMs: 5, url: 'http://a', exclude: ['x', 'y'] })
  })

  it('approves no pattern: nobody has seen what it would fit', () => {
    expect(normaliseServer({ autoApprove: ['a', '*'] }, OURS)).toMatchObject({
      autoApprove: [],
      ignored: ['autoApprove'],
    })
  })
})
