import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasProcessGroups, INHERITED_VARIABLES, pageOpener, parentIsGone } from './platform.ts'

const sources = join(import.meta.dirname, '..')

describe('platforms', () => {
  it('differ in one module: nothing else asks which one it is', () => {
    const askers = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter(
        file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('runtime/platform.ts'),
      )
      .filter(file => /process\.platform|\bos\.platform\(/.test(readFileSync(join(sources, file), 'utf8')))
    expect(askers).toEqual([])
  })

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
