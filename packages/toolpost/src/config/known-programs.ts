import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { platform as currentPlatform } from '../runtime/platform.ts'
import { collectServers } from './collect-servers.ts'
import { DEFAULT_PORT } from './config.ts'
import { configSchema } from './config-schema.ts'
import { ConfigSource } from './config-source.ts'
import { DEFAULT_CONFIG_FILE } from './read-config.ts'

/** A program on this machine that keeps MCP servers in a file. */
export interface KnownProgram {
  name: string
  /** As written in `include`. */
  file: string
}

/** Where each program keeps its servers, by platform; `~` is the home folder. */
const PROGRAMS: readonly (readonly [
  name: string,
  files: Partial<Record<NodeJS.Platform | 'any', string>>,
])[] = [
  [
    'Claude Desktop',
    {
      darwin: '~/Library/Application Support/Claude/claude_desktop_config.json',
      win32: '~/AppData/Roaming/Claude/claude_desktop_config.json',
      any: '~/.config/Claude/claude_desktop_config.json',
    },
  ],
  ['Claude Code', { any: '~/.claude.json' }],
  ['Cursor', { any: '~/.cursor/mcp.json' }],
  [
    'VS Code',
    {
      darwin: '~/Library/Application Support/Code/User/mcp.json',
      win32: '~/AppData/Roaming/Code/User/mcp.json',
      any: '~/.config/Code/User/mcp.json',
    },
  ],
  ['Windsurf', { any: '~/.codeium/windsurf/mcp_config.json' }],
  ['Zed', { win32: '~/AppData/Roaming/Zed/settings.json', any: '~/.config/zed/settings.json' }],
]
/** In the folder of a project. */
const PROJECT_FILES = [
  ['Cursor, this folder', '.cursor/mcp.json'],
  ['VS Code, this folder', '.vscode/mcp.json'],
  ['Claude Code, this folder', '.mcp.json'],
] as const

/** The programs whose file exists. */
export function knownPrograms(folder: string, home = homedir(), platform = currentPlatform): KnownProgram[] {
  const personal = PROGRAMS.map(([name, files]) => ({ name, file: files[platform] ?? files.any ?? '' }))
  const local = PROJECT_FILES.map(([name, file]) => ({ name, file: `./${file}` }))
  const pathOf = (file: string) => (file.startsWith('~') ? join(home, file.slice(1)) : join(folder, file))
  return [...personal, ...local].filter(({ file }) => file !== '' && existsSync(pathOf(file)))
}

/** The servers that `toolpost.json` in this folder would have if it included the program's file. */
export async function serversOf({ file }: KnownProgram, folder: string): Promise<string[]> {
  const source = new ConfigSource(DEFAULT_CONFIG_FILE, JSON.stringify({ include: [file] }))
  const main = {
    source,
    path: join(folder, DEFAULT_CONFIG_FILE),
    shown: DEFAULT_CONFIG_FILE,
    isIncluded: false,
  }
  const { servers } = await collectServers(main, { schema: await configSchema(), folder, port: DEFAULT_PORT })
  return servers.map(({ name }) => name)
}
