import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { writeFiles } from '../../test/config-folder.ts'
import { hostileServer } from '../../test/hostile-server/hostile-server.ts'

const { toolpost, folder } = commandLine()
const { command, args = [] } = hostileServer()
const program = [command, ...args]

function emptyFolder(): { file: string; read(): string; names(): string[] } {
  const inner = mkdtempSync(join(folder, 'add-'))
  const file = join(inner, 'toolpost.json')
  return { file, read: () => readFileSync(file, 'utf8'), names: () => readdirSync(inner) }
}

describe('toolpost add', { timeout: 90_000 }, () => {
  it('tries a server, writes it with the rest untouched, and remove takes it out again', async () => {
    const { file, read, names } = emptyFolder()
    const before = '{\n  // mine\n  "log": { "level": "warn" },\n  "mcpServers": {}\n}\n'
    writeFileSync(file, before)
    const added = await toolpost(['--config', file, 'add', 'odd', '--env', 'A=b=c', '--', ...program])
    expect(added).toMatchObject({ code: 0, out: '', err: expect.stringMatching(/✔ \d+ tools: /) })
    expect(read()).toContain('// mine\n  "log": { "level": "warn" },')
    const call = await toolpost(['--config', file, 'call', 'odd__echo', 'text=hello'])
    expect(call).toMatchObject({ code: 0, out: 'hello\n' })
    expect(read()).toContain('"A": "b=c"')
    const again = await toolpost(['--config', file, 'add', 'odd', '--', 'x'])
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("has a server 'odd'; use --force")])
    expect(await toolpost(['--config', file, 'remove', 'odd'])).toMatchObject({ code: 0 })
    expect(read().replace(/\{\s+\}/, '{}')).toBe(before)
    expect(names()).toEqual(['.toolpost', 'toolpost.json'])
  })

  it('writes nothing if it does not work, and says why', async () => {
    const { file, names } = emptyFolder()
    const server = [process.execPath, '-e', 'throw new Error("no key")']
    expect(await toolpost(['--config', file, 'add', 'broken', '--', ...server])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no key'),
    })
    expect(names()).toEqual([])
  })
})

describe('toolpost init', { timeout: 60_000 }, () => {
  it('writes a configuration with the servers that other programs have', async () => {
    const { file, read } = emptyFolder()
    const home = mkdtempSync(join(folder, 'home-'))
    writeFiles(home, {
      '.cursor/mcp.json': { mcpServers: { odd: { command, args } } },
      '.config/zed/settings.json': { theme: 'x' },
      '.codeium/windsurf/mcp_config.json': '{ broken',
    })
    const env = { HOME: home, USERPROFILE: home }
    const { code, err } = await toolpost(['--config', file, 'init'], { env })
    expect(code).toBe(0)
    expect(err).toContain('Windsurf: skipped: ~/.codeium/windsurf/mcp_config.json:1:3')
    expect(JSON.parse(read())).toMatchObject({ include: ['~/.cursor/mcp.json'], history: { days: 30 } })
    const called = await toolpost(['--config', file, 'call', 'odd__echo', 'text=hi'], { env })
    expect(called.out).toBe('hi\n')
    expect(await toolpost(['--config', file, 'init'], { env })).toMatchObject({ code: 2 })
    // What it wrote is approved; with --trust, the servers are vouched for, which an included file cannot do.
    const approved = readFileSync(join(home, '.config', 'toolpost', 'trusted.json'), 'utf8')
    expect(approved).toContain(file)
    const vouched = emptyFolder()
    await toolpost(['--config', vouched.file, 'init', '--trust'], { env })
    expect(JSON.parse(vouched.read())).toMatchObject({ mcpServers: { odd: { command, trust: true } } })
  })
})

describe('toolpost completion', { timeout: 60_000 }, () => {
  it('completes commands and flags in bash', async () => {
    const { out } = await toolpost(['completion', 'bash'])
    const completed = (...words: string[]) => {
      const script = `${out}\nCOMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _toolpost; echo "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(/\s+/)
    }
    expect(completed('toolpost', 'ca')).toEqual(['call', 'calls'])
    expect(completed('toolpost', 'call', '--t')).toEqual(['--timeout'])
    expect(completed('toolpost', '--config', 'x', 'up', '--v')).toEqual(['--voice'])
  })
})
