import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './project.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** What is promised: `{ claim, tests }`, a claim a line, its tests below it. */
function claims() {
  const promises = read('SECURITY.md').split('## What it does not protect from')[0] ?? ''
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

/** Whether a file has a test of that title, or one of a table of tests. */
function holds({ file, title }: { file: string; title: string }): boolean {
  return /\.test\.ts$/.test(file) && existsSync(join(root, file)) && read(file).includes(title)
}

describe('SECURITY.md', () => {
  it('names a test for everything that it promises', () => {
    expect(claims().length).toBeGreaterThan(25)
    expect(claims().filter(({ tests }) => tests.length === 0)).toEqual([])
  })

  it('names tests that there are', () => {
    const named = claims().flatMap(({ tests }) => tests)
    expect(named.filter(test => !holds(test))).toEqual([])
  })
})
