import type { ServerConfig } from '../../config/config.ts'
import { ConfigEditor } from '../../config/edit-config.ts'
import { tryServer } from '../../project/try-server.ts'
import type { GlobalOptions } from '../context.ts'
import { EXIT, UsageError } from '../exit-codes.ts'
import { type StopSignals, unlessStopped } from '../stop-signals.ts'
import { say, type Terminal } from '../terminal.ts'

export interface AddFlags {
  url?: string
  env?: string[]
  header?: string[]
  check: boolean
  force?: boolean
}

export interface EditContext {
  options: GlobalOptions
  terminal: Terminal
  stop: StopSignals
}

/** `toolpost add NAME -- command…` or `--url …`: tries an MCP server, and adds it to the configuration if it works. */
export async function addServer(
  context: EditContext,
  { name, command, flags }: { name: string; command: readonly string[]; flags: AddFlags },
): Promise<number> {
  const { options, terminal } = context
  const entry = entryFrom(command, flags)
  const editor = await ConfigEditor.open(options.config)
  if (editor.get(['mcpServers', name]) !== undefined && !flags.force)
    throw new UsageError(`${editor.file} already has a server '${name}'; use --force to replace it`)
  if (flags.check && !(await works(name, entry, { ...context, folder: editor.folder }))) return EXIT.failed
  editor.set(['mcpServers', name], entry)
  await editor.save()
  say(terminal, `${editor.isNew ? 'Wrote' : 'Changed'} ${editor.file}`)
  return EXIT.ok
}

async function works(
  name: string,
  entry: ServerConfig,
  { terminal, stop, folder }: EditContext & { folder: string },
): Promise<boolean> {
  say(terminal, `Trying '${name}' …`)
  const { status, tools } = await unlessStopped(
    tryServer(name, entry, { folder, signal: stop.signal }),
    stop.signal,
  )
  if (status.state === 'ready') {
    say(terminal, `✔ ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}: ${shortList(tools)}`)
    return true
  }
  const problem = status.error ?? `it is ${status.state}`
  say(terminal, `✘ ${problem}${status.stderr ? `\n${status.stderr}` : ''}`)
  say(terminal, 'Nothing was written. To add it anyway, use --no-check.')
  return false
}

function entryFrom(command: readonly string[], { url, env = [], header = [] }: AddFlags): ServerConfig {
  const [program, ...args] = command
  if ((program === undefined) === (url === undefined))
    throw new UsageError('Give a command after --, or a --url: toolpost add files -- npx -y some-server')
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url)) throw new UsageError(`--url expects an http or https URL, got '${url}'`)
    return { url, ...(header.length > 0 && { headers: pairs(header, '--header', ':') }) }
  }
  return {
    command: program as string,
    ...(args.length > 0 && { args }),
    ...(env.length > 0 && { env: pairs(env, '--env', '=') }),
  }
}

function pairs(words: readonly string[], flag: string, separator: string): Record<string, string> {
  return Object.fromEntries(
    words.map(word => {
      const at = word.indexOf(separator)
      if (at < 1) throw new UsageError(`${flag} expects name${separator}value, got '${word}'`)
      return [word.slice(0, at).trim(), word.slice(at + 1).trim()]
    }),
  )
}

function shortList(names: readonly string[], most = 8): string {
  const rest = names.length - most
  return `${names.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
