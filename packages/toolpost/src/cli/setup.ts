import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasDatabase } from '../history/database.ts'
import type { ServerConfig } from '../project/config.ts'
import { addServer as add, ConfigEditor } from '../project/edit-config.ts'
import { knownPrograms } from '../project/other-programs.ts'
import { programServers, resolveConfig } from '../project/resolve.ts'
import { commandsOf, trust } from '../project/trust.ts'
import { approve, type BareContext, type CommandContext, type Flags } from './context.ts'
import { EXIT, Stopped, stop, UsageError } from './exit.ts'
import { isInteractive, isYes, say, typedLine } from './terminal.ts'

/** `toolpost init`: writes a toolpost.json after asking, with the servers of other programs on this machine. */
export async function writeConfig({ options }: BareContext): Promise<number> {
  const editor = await ConfigEditor.open(options.config)
  if (!editor.isNew) throw new UsageError(`${editor.file} exists; \`toolpost add\` adds a server to it`)
  const agrees = async (question: string) => {
    if (options.yes || !process.stdin.isTTY) return true
    const answer = await typedLine(`${question} [Y/n] `)
    if (answer === undefined) throw new Stopped('No answer')
    return !/^\s*n/i.test(answer)
  }
  const included: string[] = []
  const copied: Record<string, ServerConfig> = {}
  for (const program of knownPrograms(editor.folder)) {
    // One that cannot be read would fail at every start.
    const servers = await programServers(program, editor.folder).catch((error: Error) => {
      say(`${program.name}: skipped: ${error.message}`)
      return []
    })
    const names = servers.map(({ name }) => name).join(', ')
    if (servers.length === 0) continue
    if (!(await agrees(`${program.name} (${program.file}) has ${names}. Use them here?`))) continue
    // Only our own file may say whom to trust.
    if (!(await vouchesFor(names, options.yes))) included.push(program.file)
    else for (const { name, entry } of servers) copied[name] ??= { ...entry, trust: true }
  }
  if (included.length > 0) editor.set(['include'], included)
  editor.set(['mcpServers'], copied)
  const next = ['toolpost add NAME -- command …', 'toolpost up']
  if (await agrees('Keep a history of calls, for `toolpost calls` and the console?')) {
    editor.set(['history'], { file: '.toolpost/history.db', days: 30 })
    if (!hasDatabase()) next.unshift('npm i libsql')
  }
  await editor.save()
  try {
    // What the person has just chosen is not asked about again; if that cannot be saved, it is.
    trust(editor.file, commandsOf((await resolveConfig(editor.file)).config.mcpServers))
  } catch {}
  ignoreState(join(editor.folder, '.gitignore'))
  say(`Wrote ${editor.file}\nNext: ${next.join('\n      ')}`)
  return EXIT.ok
}

/** Keeps the token, the logins and the history out of the repository. */
function ignoreState(file: string): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (/^\/?\.toolpost\/?\s*$/m.test(text)) return
  writeFileSync(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}.toolpost/\n`)
}

/** `toolpost add NAME -- command…` or `--url …`: tries an MCP server, and adds it to the configuration if it works. */
export async function addServer({ options, words, flags }: BareContext<[string, string[]]>): Promise<number> {
  const [name, command] = words
  const { check = true, force: replace = false } = flags
  const given = entryFrom(command, flags)
  const isTrusted = flags.trust ?? (await vouchesFor(name, options.yes))
  const entry = { ...given, ...(isTrusted && { trust: true }) }
  if (check) say(`Trying '${name}' …`)
  const added = await add({ file: options.config, name, entry, check, replace, signal: stop.signal })
  if (added.outcome === 'taken')
    throw new UsageError(`${added.file} already has a server '${name}'; use --force to replace it`)
  if (added.outcome === 'failed') {
    const { error, state, stderr } = added.tried.status
    say(`✘ ${error ?? `it is ${state}`}${stderr ? `\n${stderr}` : ''}`)
    say('Nothing was written. To add it anyway, use --no-check.')
    return EXIT.failed
  }
  const { tried, file, hasExample } = added
  if (tried?.status.state === 'needs_login') say(`… it needs a login: toolpost auth ${name}`)
  else if (tried) say(`✔ ${tried.tools.length} tools: ${tried.tools.join(', ')}`)
  say(`Wrote ${file}`)
  const advice = `Chat asks before tools without hints. If you vouch for '${name}': "trust": true, or --trust`
  if (!isTrusted) say(advice)
  if (hasExample) say('It also has the built-in example, which ran here until now.')
  return EXIT.ok
}

/** Asks at a terminal; otherwise the answer is no. */
async function vouchesFor(names: string, isQuick = false): Promise<boolean> {
  if (isQuick || !isInteractive()) return false
  const question = `Do you vouch for what ${names} says about its tools? If not, chat asks before them. [y/N] `
  return isYes(await typedLine(question))
}

function entryFrom(
  [command, ...args]: readonly string[],
  { url, env = [], header = [] }: Flags,
): ServerConfig {
  if ((command === undefined) === (url === undefined))
    throw new UsageError('Give a command after --, or a --url: toolpost add files -- npx -y some-server')
  if (url !== undefined && !/^https?:\/\//.test(url))
    throw new UsageError(`--url expects an http or https URL, got '${url}'`)
  if (url !== undefined) return { url, ...(header.length > 0 && { headers: pairs(header, '--header', ':') }) }
  const environment = env.length > 0 && { env: pairs(env, '--env', '=') }
  return { command: command as string, ...(args.length > 0 && { args }), ...environment }
}

function pairs(words: readonly string[], flag: string, separator: string): Record<string, string> {
  const entries = words.map(word => {
    const at = word.indexOf(separator)
    if (at < 1) throw new UsageError(`${flag} expects name${separator}value, got '${word}'`)
    return [word.slice(0, at).trim(), word.slice(at + 1).trim()]
  })
  return Object.fromEntries(entries)
}

/** `toolpost remove NAME`: removes an MCP server from the configuration. */
export async function removeServer({ options, words: [name] }: BareContext<[string]>): Promise<number> {
  const editor = await ConfigEditor.open(options.config)
  if (editor.get(['mcpServers', name]) === undefined)
    throw new UsageError(`${editor.file} has no server '${name}' under mcpServers`)
  editor.set(['mcpServers', name], undefined)
  await editor.save()
  say(`Changed ${editor.file}`)
  return EXIT.ok
}

/** `toolpost trust`: approves the commands of the configuration. */
export function trustConfig({ project: { file, config } }: CommandContext): number {
  if (file === undefined) throw new UsageError('There is no toolpost.json here')
  for (const { text } of commandsOf(config.mcpServers)) say(`  ${text}`)
  approve(file, config)
  say(`Approved ${file}`)
  return EXIT.ok
}
