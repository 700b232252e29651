import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasProcessGroups, INHERITED_VARIABLES, pageOpener, parentIsGone } from './platform.ts'

const packages = join(import.meta.dirname, '../../..')

describe('platforms', () => {
  it.each(['durable', 'toolpost', 'voice-gateway', 'zwave-mcp-server'])(
    'differ in one module of %s: nothing else asks which one it is',
    name => {
      const sources = join(packages, name, 'src')
      const askers = readdirSync(sources, { recursive: true, encoding: 'utf8' })
        .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .filter(file => basename(file) !== 'platform.ts')
        .filter(file =>
          /process\.platform|\bplatform\(\)|\{[^}\n]*\bplatform\b[^}\n]*\} = process\b/.test(
            readFileSync(join(sources, file), 'utf8'),
          ),
        )
      expect(askers).toEqual([])
    },
  )

  it('have a command that opens a page, if there is a screen', () => {
    expect(pageOpener({ BROWSER: 'lynx' })).toEqual(['lynx'])
    if (process.platform === 'linux') {
      expect(pageOpener({})).toBeUndefined()
      expect(pageOpener({ DISPLAY: ':0' })).toEqual(['xdg-open'])
    }
  })

  it('know the parent of this process, and what a program needs', () => {
    expect(parentIsGone(process.ppid)).toBe(false)
    expect(parentIsGone(2 ** 22 + 1)).toBe(true)
    expect(hasProcessGroups).toBe(process.platform !== 'win32')
    expect(INHERITED_VARIABLES).toContain('PATH')
  })
})
