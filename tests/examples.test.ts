import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { outputOf } from './output-of.ts'
import { codeBlocks, read, root } from './project.ts'

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

const readme = read('README.md')
const blocksOf = (name: string) =>
  codeBlocks('README.md').flatMap(each => (each.language === name ? each.code : []))
// What npx would find, in half the time.
const env = {
  ...process.env,
  PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
  TOOLPOST_TOKEN: '',
}
const inShell = (command: string, cwd: string) =>
  run('sh', ['-c', `npx() { "$@"; }; ${command}`], { cwd, env, timeout: 90_000 })

/** The README's commands, each with its documented output. */
function shellSessions(): { command: string; printed: string }[] {
  return blocksOf('console').flatMap(block =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map(session => {
        const [command = '', ...printed] = session.trimEnd().split('\n')
        return { command, printed: printed.join('\n') }
      }),
  )
}

/** The README's commands without output, by their first words. */
function commandWith(words: string): string {
  const found = blocksOf('sh')
    .flatMap(block => block.split('\n'))
    .find(line => line.startsWith(words))
  if (found === undefined) throw new Error(`README.md has no command '${words}'`)
  return found.replace(/ +# .*/, '')
}

/** An empty folder where packages are found as in the clone. */
function folderInClone(): { folder: string; [Symbol.dispose](): void } {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-readme-'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

describe('the README', () => {
  it.each(shellSessions())('shows what `$command` prints', async ({ command, printed }) => {
    using empty = folderInClone()
    const shown = await inShell(`{ ${command}; } 2>&1 || true`, empty.folder)
    expect(shown.stdout.trimEnd()).toBe(printed)
  })

  it('sets up a configuration with a server', async () => {
    using empty = folderInClone()
    const { folder } = empty
    await inShell(`HOME=${folder} ${commandWith('npx toolpost init')} --yes`, folder)
    // The package is installed here; npx would download it elsewhere.
    await inShell(commandWith('npx toolpost add').replace('npx -y @modelcontextprotocol/', 'mcp-'), folder)
    expect(readFileSync(join(folder, 'toolpost.json'), 'utf8')).toContain('"files"')
    expect(readFileSync(join(folder, '.toolpost', '.gitignore'), 'utf8')).toBe('*\n')
    const { stdout } = await inShell(`${commandWith('npx toolpost doctor')} || true`, folder)
    expect(stdout).toMatch(/✔ .*files/)
  }, 120_000)

  it('starts everything, and calls a tool over HTTP with its token', async () => {
    using empty = folderInClone()
    const { folder } = empty
    const { start } = JSON.parse(read('package.json')).scripts
    const [, up = ''] = start.split('&& node ')
    const child = spawn(process.execPath, [join(root, up.split(' ')[0]), 'up', '--port', '0'], {
      cwd: folder,
      env,
    })
    const { out, exit } = outputOf(child)
    try {
      await expect.poll(out, { timeout: 60_000 }).toMatch(/Console +http:\S+#token=\S{20}/)
      const [, port = ''] = /:(\d+)\/#token/.exec(out()) ?? []
      const { stdout } = await inShell(commandWith('curl').replace('4040', port), folder)
      expect(JSON.parse(stdout)).toMatchObject({ success: true, result: { result: 10.2 } })
      expect((await fetch(`http://127.0.0.1:${port}/api/tools`)).status).toBe(401)
    } finally {
      child.kill()
      await exit
    }
  }, 120_000)

  it('has at most 900 words', () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(900)
  })

  it('shows the first program as it runs', () => {
    const [shown = ''] = blocksOf('js')
    expect(read('examples/first-program/main.mjs')).toContain(shown.trim())
  })
})
