import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasDatabase } from '../history/database.ts'
import { addServer as add } from '../project/add-server.ts'
import type { ServerConfig } from '../project/config.ts'
import { ConfigEditor } from '../project/edit-config.ts'
import { knownPrograms } from '../project/other-programs.ts'
import { serversOf } from '../project/read.ts'
import { resolveConfig } from '../project/resolve.ts'
import { commandsOf, trust } from '../project/trust.ts'
import { type BareContext, typedLine } from './context.ts'
import { EXIT, UsageError } from './exit-codes.ts'
import { Stopped, unlessStopped } from './stop-signals.ts'
import { say } from './terminal.ts'

/** `toolpost init`: writes a toolpost.json after asking, with the servers of other programs on this machine. */
export async function writeConfig(context: BareContext): Promise<number> {
  const { options, terminal, stop } = context
  const editor = await ConfigEditor.open(options.config)
  if (!editor.isNew) throw new UsageError(`${editor.file} exists; \`toolpost add\` adds a server to it`)
  const acceptsAll = options.yes === true || !process.stdin.isTTY
  const agrees = async (question: string) => {
    if (acceptsAll) return true
    const answer = await typedLine(`${question} [Y/n] `, { terminal, signal: stop.signal })
    if (answer === undefined) throw new Stopped('No answer')
    return !/^\s*n/i.test(answer)
  }
  const next = [
    'toolpost add NAME -- command …   (an MCP server)',
    'toolpost up                       (everything, with a console)',
  ]
  const wanted: string[] = []
  for (const program of knownPrograms(editor.folder)) {
    // One that cannot be read would fail at every start.
    const servers = await serversOf(program, editor.folder).catch((error: Error) => {
      say(terminal, `${program.name}: skipped: ${error.message}`)
      return []
    })
    const offer = `${program.name} (${program.file}) has ${servers.join(', ')}. Use them here?`
    if (servers.length > 0 && (await agrees(offer))) wanted.push(program.file)
  }
  if (wanted.length > 0) editor.set(['include'], wanted)
  editor.set(['mcpServers'], {})
  if (await agrees('Keep a history of calls, for `toolpost calls` and the console?')) {
    editor.set(['history'], { file: '.toolpost/history.db', days: 30 })
    if (!hasDatabase()) next.unshift('npm i libsql                     (stores the history)')
  }
  await editor.save()
  await trustWritten(editor.file)
  ignoreState(editor.folder)
  say(terminal, `Wrote ${editor.file}\nNext: ${next.join('\n      ')}`)
  return EXIT.ok
}

/** What the person has just chosen is not asked about again; if that cannot be saved, it is. */
async function trustWritten(file: string): Promise<void> {
  try {
    trust(file, commandsOf((await resolveConfig(file)).config.mcpServers))
  } catch {}
}

/** Keeps the token, the logins and the history out of the repository. */
function ignoreState(folder: string): void {
  const file = join(folder, '.gitignore')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (/^\/?\.toolpost\/?\s*$/m.test(text)) return
  writeFileSync(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}.toolpost/\n`)
}

export interface AddFlags {
  url?: string
  env?: string[]
  header?: string[]
  check: boolean
  force?: boolean
  trust?: boolean
}

/** `toolpost add NAME -- command…` or `--url …`: tries an MCP server, and adds it to the configuration if it works. */
export async function addServer(
  { options, terminal, stop }: BareContext,
  { name, command, flags }: { name: string; command: readonly string[]; flags: AddFlags },
): Promise<number> {
  const { check, force = false } = flags
  const given = entryFrom(command, flags)
  const isTrusted = flags.trust ?? (await vouchesFor(name, { terminal, stop }))
  const entry = { ...given, ...(isTrusted && { trust: true }) }
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
  else if (tried) say(terminal, `✔ ${tried.tools.length} tools: ${tried.tools.join(', ')}`)
  say(terminal, `Wrote ${file}`)
  if (!isTrusted)
    say(
      terminal,
      `Chat asks before tools without hints. If you vouch for '${name}': "trust": true, or --trust`,
    )
  if (hasExample) say(terminal, 'It also has the built-in example, which ran here until now.')
  return EXIT.ok
}

/** Asks at a terminal; otherwise the answer is no. */
async function vouchesFor(
  name: string,
  { terminal, stop }: Pick<BareContext, 'terminal' | 'stop'>,
): Promise<boolean> {
  if (!process.stdin.isTTY || !terminal.err.isTTY) return false
  const question = `Do you vouch for what '${name}' says about its tools? If not, chat asks before them. [y/N] `
  const answer = await typedLine(question, { terminal, signal: stop.signal })
  return /^\s*y(es)?\s*$/i.test(answer ?? '')
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

/** `toolpost remove NAME`: removes an MCP server from the configuration. */
export async function removeServer({ options, terminal }: BareContext, name: string): Promise<number> {
  const editor = await ConfigEditor.open(options.config)
  if (editor.get(['mcpServers', name]) === undefined)
    throw new UsageError(`${editor.file} has no server '${name}' under mcpServers`)
  editor.set(['mcpServers', name], undefined)
  await editor.save()
  say(terminal, `Changed ${editor.file}`)
  return EXIT.ok
}
