import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFolder, configOf, writeFiles } from '../../test/config-folder.ts'
import { packageRoot } from '../util/package-root.ts'

const ENVIRONMENT = {
  HOME: '/home/me',
  GITHUB_TOKEN: 'ghp_0123456789',
  API_KEY: 'k-1',
  TOOLPOST_INPUT_PERPLEXITY_KEY: 'pplx',
}

interface ProgramFile {
  program: string
  /** As the program has it; text if it has comments. */
  file: unknown
  /** What becomes of its servers, with `<folder>` for the project's. */
  servers: object
  /** The keys that are named as ignored. */
  ignored: string[]
}

const FILES: ProgramFile[] = JSON.parse(
  readFileSync(join(packageRoot(), 'test', 'other-programs.json'), 'utf8'),
)

describe('the file of another program is taken as it is', () => {
  it.each(FILES)('$program', async ({ program, file, servers, ignored }) => {
    const folder = configFolder({ 'toolpost.json': file, '.env': 'FROM_FILE=yes\nAPI_KEY=other' })
    const found = await configOf(folder, ENVIRONMENT)
    const shown = JSON.stringify(found.servers)
      .replaceAll(folder, '<folder>')
      .replaceAll(basename(folder), '<base>')
      .replaceAll(homedir(), '<home>')
    expect(JSON.parse(shown)).toEqual(servers)
    const keys = `${ignored.length === 1 ? 'key' : 'keys'} ${ignored.join(', ')}`
    expect(found.notices).toEqual(ignored.length === 0 ? [] : [`⚠️ toolpost.json: ignoring unknown ${keys}`])
    expect(Object.keys(found.brokenServers)).toEqual(program === 'Zed' ? ['postgres'] : [])
  })

  it('also the servers that Claude Code keeps for this folder, and no other', async () => {
    const folder = configFolder({})
    const claude = {
      numStartups: 5,
      mcpServers: { user: { command: 'u' } },
      projects: {
        [folder]: { mcpServers: { mine: { command: 'm' } } },
        '/elsewhere': { mcpServers: { no: { command: 'n' } } },
      },
    }
    writeFiles(folder, { 'toolpost.json': { include: ['claude.json'] }, 'claude.json': claude })
    expect((await configOf(folder)).servers).toEqual({ user: { command: 'u' }, mine: { command: 'm' } })
  })
})

it.each(['websocket', 'constructor', '', 5])(
  '[F59] an unknown type (%j) is refused for that server alone, with those that are expected',
  async type => {
    const mcpServers = { a: { url: 'http://x', type }, b: { command: 'x' } }
    const { brokenServers } = await configOf(configFolder({ 'toolpost.json': { mcpServers } }))
    expect(brokenServers).toEqual({
      a: expect.stringMatching(
        /^toolpost\.json:3:10, mcpServers\.a: invalid 'type'.*; expected one of stdio, http, streamable-http, sse$/,
      ),
    })
  },
)
