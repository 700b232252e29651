import type { ServerConfig } from '../../project/config.ts'
import { addServer as add } from '../../project/add-server.ts'
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
  { options, terminal, stop }: EditContext,
  { name, command, flags }: { name: string; command: readonly string[]; flags: AddFlags },
): Promise<number> {
  const { check, force = false } = flags
  const entry = { ...entryFrom(command, flags) }
  if (check) say(terminal, `Trying '${name}' …`)
  const { signal } = stop
  const adding = add({ file: options.config, name, entry, check, replace: force, signal })
  const added = await unlessStopped(adding, signal)
  if (added.outcome === 'taken')
    throw new UsageError(`${added.file} already has a server '${name}'; use --force to replace it`)
  if (added.outcome === 'failed') {
    const { error, state, stderr } = added.tried.status
    say(terminal, `✘ ${error ?? `it is ${state}`}${stderr ? `\n${stderr}` : ''}`)
    say(terminal, 'Nothing was written. To add it anyway, use --no-check.')
    return EXIT.failed
  }
  const { tried, file, hasExample } = added
  if (tried?.status.state === 'needs_login') say(terminal, `… it needs a login: toolpost auth ${name}`)
  else if (tried) say(terminal, `✔ ${countOf(tried.tools)}: ${shortList(tried.tools)}`)
  say(terminal, `Wrote ${file}`)
  if (hasExample) say(terminal, 'It also has the built-in example, which ran here until now.')
  return EXIT.ok
}

function countOf(tools: readonly string[]): string {
  return tools.length === 1 ? '1 tool' : `${tools.length} tools`
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
