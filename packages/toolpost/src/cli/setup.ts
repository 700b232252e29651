import { writeFileSync } from 'node:fs'
import { hasDatabase } from '../history/database.ts'
import type { ServerConfig } from '../project/config.ts'
import { addServer as add, editConfig } from '../project/edit-config.ts'
import { stateFolder } from '../project/local-state.ts'
import { knownPrograms } from '../project/other-programs.ts'
import { programServers, resolveConfig } from '../project/resolve.ts'
import { commandsOf } from '../project/trust.ts'
import { codeFor } from '../tools/typed-functions.ts'
import { makePrivateFolder } from '../util/private-file.ts'
import { approve, type Context, type Flags } from './context.ts'
import { EXIT, stop, UsageError } from './process.ts'
import { counted, print, say } from './terminal.ts'

/** `toolpost init`: writes a toolpost.json with a history and the servers of other programs on this machine. */
export async function writeConfig({ flags }: Context): Promise<number> {
  const editor = await editConfig(flags.config)
  const { file, folder } = editor
  if (!editor.isNew) throw new UsageError(`${file} exists; \`toolpost add\` adds a server to it`)
  const included: string[] = []
  const copied: Record<string, ServerConfig> = {}
  for (const program of knownPrograms(folder))
    try {
      const servers = await programServers(program, folder)
      if (servers.length === 0) continue
      // Only our own file may say whom to trust.
      if (flags.trust) for (const { name, entry } of servers) copied[name] ??= { ...entry, trust: true }
      else included.push(program.file)
      say(`${program.name} (${program.file}): uses ${servers.map(({ name }) => name).join(', ')}`)
    } catch (error) {
      // It would fail at every start.
      say(`${program.name}: skipped: ${(error as Error).message}`)
    }
  if (included.length > 0) editor.set(['include'], included)
  editor.set(['mcpServers'], copied)
  editor.set(['history'], { file: '.toolpost/history.db', days: 30 })
  await editor.save()
  // What cannot be read is reported by the next command.
  await resolveConfig(file).then(
    ({ config }) => approve(file, config),
    () => {},
  )
  makePrivateFolder(stateFolder(file))
  if (included.length > 0) say(`Chat asks before tools without hints. If you vouch for these: init --trust`)
  const next = [hasDatabase() ? [] : 'npm i libsql', 'toolpost add NAME -- command …', 'toolpost up'].flat()
  say(`Wrote ${file}\nNext: ${next.join('\n      ')}`)
  return EXIT.ok
}

/** `toolpost add NAME -- command…` or `--url …`: tries an MCP server, and adds it to the configuration if it works. */
export async function addServer({ words, flags }: Context<[string, string[]]>): Promise<number> {
  const [name, command] = words
  const { check = true, force: replace = false } = flags
  const entry = { ...entryFrom(command, flags), ...(flags.trust && { trust: true }) }
  if (check) say(`Trying '${name}' …`)
  const added = await add({ file: flags.config, name, entry, check, replace, signal: stop.signal })
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
  else if (tried) say(`✔ ${counted(tried.tools.length, 'tool')}: ${tried.tools.join(', ')}`)
  say(`Wrote ${file}`)
  const advice = `Chat asks before tools without hints. If you vouch for '${name}': "trust": true, or --trust`
  if (!flags.trust) say(advice)
  if (hasExample) say('It also has the built-in example, which ran here until now.')
  return EXIT.ok
}

function entryFrom([command, ...args]: readonly string[], { url, env, header }: Flags): ServerConfig {
  if ((command === undefined) === (url === undefined))
    throw new UsageError('Give a command after --, or a --url: toolpost add files -- npx -y some-server')
  if (url !== undefined && !/^https?:\/\//.test(url))
    throw new UsageError(`--url expects an http or https URL, got '${url}'`)
  if (url !== undefined) return { url, ...(header && { headers: pairs(header, '--header', ':') }) }
  const environment = env && { env: pairs(env, '--env', '=') }
  return { command: command as string, ...(args.length > 0 && { args }), ...environment }
}

function pairs(words: readonly string[], flag: string, separator: string): Record<string, string> {
  const entries = words.map(word => {
    const [name = '', ...value] = word.split(separator)
    if (name === '' || value.length === 0)
      throw new UsageError(`${flag} expects name${separator}value, got '${word}'`)
    return [name.trim(), value.join(separator).trim()]
  })
  return Object.fromEntries(entries)
}

/** `toolpost remove NAME`: removes an MCP server from the configuration. */
export async function removeServer({ flags, words: [name] }: Context<[string]>): Promise<number> {
  const editor = await editConfig(flags.config)
  if (editor.get(['mcpServers', name]) === undefined)
    throw new UsageError(`${editor.file} has no server '${name}' under mcpServers`)
  editor.set(['mcpServers', name], undefined)
  await editor.save()
  say(`Changed ${editor.file}`)
  return EXIT.ok
}

/** `toolpost trust`: approves the commands of the configuration. */
export async function trustConfig({ open }: Context): Promise<number> {
  const { file, config } = await open({ startsNothing: true })
  if (file === undefined) throw new UsageError('There is no toolpost.json here')
  for (const { text } of commandsOf(config.mcpServers)) say(`  ${text}`)
  approve(file, config)
  say(`Approved ${file}`)
  return EXIT.ok
}

/** `toolpost codegen [--out file.ts]`: generates typed functions for all tools, grouped by server. */
export async function generateCode({ open, flags: { out } }: Context): Promise<number> {
  const project = await open({ looksForItself: true })
  for (const { name, state, error = `the server is ${state}` } of await project.ready())
    if (state !== 'ready') say(`⚠️ The tools of '${name}' are missing: ${error}`)
  const code = codeFor(project.tools)
  if (out === undefined) print(code.trimEnd())
  else writeFileSync(out, code)
  if (out !== undefined) say(`Wrote ${project.tools.getTools().length} functions to ${out}`)
  return EXIT.ok
}
