import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { root } from './project.ts'

const run = promisify(execFile)
const examples = readdirSync(join(root, 'examples')).filter(name =>
  existsSync(join(root, 'examples', name, 'main.mjs')),
)

describe('the examples', () => {
  it.each(examples)('%s runs, checks itself and leaves nothing behind', async name => {
    const { stderr } = await run(process.execPath, ['main.mjs'], {
      cwd: join(root, 'examples', name),
      timeout: 60_000,
    })
    expect(stderr).toBe('')
  })
})

/** The README's commands, each with its documented output. */
function shellSessions(): { command: string; printed: string }[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  return [...readme.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map(session => {
        const [command = '', ...printed] = session.trimEnd().split('\n')
        return { command, printed: printed.join('\n') }
      }),
  )
}

describe('the README', () => {
  it.each(shellSessions())('shows what `$command` prints', async ({ command, printed }) => {
    // What npx would find, in half the time.
    const PATH = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`
    const script = `npx() { "$@"; }; { ${command}; } 2>&1 || true`
    const shown = await run('sh', ['-c', script], { cwd: root, env: { ...process.env, PATH } })
    expect(shown.stdout.trimEnd()).toBe(printed)
  })

  it('shows the first program as it runs', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const program = readFileSync(join(root, 'examples/first-program/main.mjs'), 'utf8')
    const [, shown = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
    expect(program).toContain(shown.trim())
  })
})
