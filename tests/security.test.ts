import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './project.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The promises, one per line with their tests below: `{ claim, tests }`. */
function claims() {
  const promises = read('SECURITY.md').split('## What it does not protect against')[0] ?? ''
  return promises
    .split(/^- /m)
    .slice(1)
    .map(item => ({
      claim: item.split('\n')[0] ?? '',
      tests: [...item.matchAll(/^ {2}- \[[^\]]+\]\(([^)]+)\): “([^”]+)”$/gm)].map(
        ([, file = '', title = '']) => ({ file, title }),
      ),
    }))
}

/** Whether a file has a test with that title, or a table of tests that contains it. */
function holds({ file, title }: { file: string; title: string }): boolean {
  return /\.test\.ts$/.test(file) && existsSync(join(root, file)) && read(file).includes(title)
}

describe('SECURITY.md', () => {
  it('names a test for every promise', () => {
    expect(claims().length).toBeGreaterThan(25)
    expect(claims().filter(({ tests }) => tests.length === 0)).toEqual([])
  })

  it('names tests that exist', () => {
    const named = claims().flatMap(({ tests }) => tests)
    expect(named.filter(test => !holds(test))).toEqual([])
  })
})
