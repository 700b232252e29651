import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { root } from './project.ts'

/** The files of the product that one call to a tool over stdio runs through, by V8's coverage. */
function filesOfACall(): string[] {
  const script = fileURLToPath(new URL('walk/one-call.mjs', import.meta.url))
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })) as string[]
}

/** Those that every call runs through: now and then something else happens meanwhile, such as a look at child processes. */
function filesOfEveryCall(): string[] {
  const [first = [], ...others] = [filesOfACall(), filesOfACall(), filesOfACall()]
  return first.filter(file => others.every(files => files.includes(file)))
}

/** The files listed in ARCHITECTURE.md's walk. */
function filesOfTheWalk(): string[] {
  const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const [, walk = ''] = /### A walk[\s\S]*?\n```\n([\s\S]*?)```/.exec(architecture) ?? []
  return [...walk.matchAll(/^ *\d+\. (\S+\.ts) /gm)].map(([, file = '']) => file)
}

describe('a call over stdio', () => {
  it('touches fewer than 25 files, which are those of the walk in ARCHITECTURE.md, each once', () => {
    const walk = filesOfTheWalk()
    expect([...walk].sort()).toEqual(filesOfEveryCall().sort())
    expect(new Set(walk).size).toBe(walk.length)
    expect(walk.length).toBeLessThan(25)
  }, 60_000)
})
