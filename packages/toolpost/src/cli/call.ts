import type { ToolFailure } from '../call/tool-result.ts'
import { textOf } from '../executor/model-text.ts'
import type { ToolInfo } from '../gateway/api-types.ts'
import { escapeControls } from '../logging/safe-value.ts'
import { configSource } from '../project/source.ts'
import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { isObjectLike } from '../util/guards.ts'
import type { Context } from './context.ts'
import { EXIT, timeoutOf, UsageError, unlessStopped } from './process.ts'
import { isNamed, isStarting, openSource } from './source.ts'
import { asking, print, printJson, progressLine, say } from './terminal.ts'

/** `toolpost call <tool> …`: prints the result to stdout, or what is wrong with the call to stderr. */
export async function callTool(context: Context<[string, string[]]>): Promise<number> {
  const { flags } = context
  const [tool, words] = context.words
  const timeoutMs = timeoutOf(flags)
  const input = async () => (await import('node:stream/consumers')).text(process.stdin)
  const { args, repair } = parseArguments(words[0] === '-' ? [await unlessStopped(input())] : words)
  const source = await openSource(context)
  const name = await unlessStopped(source.nameOf(tool, timeoutMs))
  const progress = progressLine()
  const options = { repair, timeoutMs, key: flags.key, ask: asking(), onProgress: progress.show }
  const result = await source.call({ name, args }, options)
  progress.end()
  if (flags.json) print(textOf(result))
  else if (!result.success) explain(result)
  else if (result.text === undefined && isObjectLike(result.result) && process.stdout.isTTY)
    printJson(result.result)
  else print(result.text ?? textOf(result.result))
  return result.success ? EXIT.ok : EXIT.failed
}

function explain({ error, diagnosis, code }: ToolFailure): void {
  say(`Error: ${error}`)
  const { signature, suggestions = [], causes = [] } = diagnosis ?? {}
  if (signature) say(`  ${signature}`)
  if (suggestions.length > 0) say(`  Did you mean ${suggestions.join(', ')}?`)
  else if (code === 'unknown_tool') say('  Run `toolpost tools` to list all tools')
  const shown = (code === 'timeout' ? causes : causes.slice(1)).filter(cause => !error.includes(cause))
  if (shown.length > 0) say(`  Cause: ${shown.join(' ← ')}`)
}

const PAIR = /^[^\s=:{}[\]"']+=/

/**
 * One JSON text, or any number of `key=value`; a key given twice makes a list. What a person typed as `key=value` is
 * coerced to the schema, JSON is taken as it is.
 */
function parseArguments(words: readonly string[]): { args: unknown; repair: boolean } {
  const notPair = words.find(word => !PAIR.test(word))
  if (words.length === 1 && notPair !== undefined && /^\s*(?:$|[[{"\d-])/.test(notPair))
    return { args: configSource('arguments', notPair).value, repair: false }
  if (notPair !== undefined)
    throw new UsageError(`expected key=value or a single JSON argument, got '${notPair}'`)
  const args = new Map<string, string | string[]>()
  for (const word of words) {
    const [key = ''] = word.split('=', 1)
    const [value, before] = [word.slice(key.length + 1), args.get(key)]
    args.set(key, before === undefined ? value : [before, value].flat())
  }
  return { args: Object.fromEntries(args), repair: true }
}

/** `toolpost tools [NAME]`: lists the tools, those of a server, or one tool with an example. */
export async function listTools(context: Context<[string?]>): Promise<number> {
  const { json = false, search } = context.flags
  const [name] = context.words
  const source = await openSource(context)
  const { tools, servers } = await unlessStopped(source.tools({ name, search, isComplete: json }))
  for (const server of name === undefined ? servers.filter(isStarting) : [])
    say(`Server '${server.name}' is still starting; to wait for it: toolpost tools ${server.name}`)
  const ofServer = tools.filter(({ source }) => source === (name ?? source))
  const shown = ofServer.length > 0 || name === undefined ? ofServer : tools.filter(isNamed(name))
  const [only] = shown
  if (!only && (search ?? name) !== undefined) {
    const { error, state } = servers.find(each => each.name === name) ?? {}
    const missing = state
      ? `Server '${name}' has no tools: ${error ?? `it is ${state}`}`
      : `No server or tool named '${name}'`
    say(search === undefined ? missing : `No tool matches '${search}'`)
    return EXIT.failed
  }
  if (json) return printJson(shown)
  process.stdout.write(only && ofServer.length === 0 ? page(only) : shown.map(paragraph).join(''))
  return EXIT.ok
}

/** Control characters in what a server sends are shown, not interpreted. */
function paragraph({ source, signature, description }: ToolInfo): string {
  const from = source === 'local' ? '' : ` (from ${escapeControls(source)})`
  return `${escapeControls(signature)}${from}\n    ${escapeControls(description.replace(/\s+/g, ' ').trim())}\n`
}

function page({ name, source, signature, description, schema, ...tool }: ToolInfo): string {
  const marks = { 'read-only': tool.readOnly, idempotent: tool.idempotent, destructive: tool.destructive }
  const facts = Object.entries(marks).flatMap(([mark, isSet]) => (isSet ? [mark] : []))
  const from = source === 'local' ? 'local' : `from ${source}`
  const properties = propertiesOf(schema)
  const words = [name, ...requiredOf(schema).map(each => `${each}=${exampleOf(properties[each])}`)]
  const quoted = words.map(word => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
  const text = description.trim().split('\n').map(escapeControls).join('\n')
  return `${escapeControls(`${signature} (${[from, ...facts].join(', ')})`)}\n${text}\n\ntoolpost call ${quoted.join(' ')}\n`
}

function exampleOf(schema: unknown): string {
  const { examples, default: usual, enum: choices, type } = Object(schema) as Record<string, unknown>
  const [given] = [examples, usual, choices].flat().filter(value => value !== undefined)
  const value =
    given ?? { number: 1, integer: 1, boolean: true, array: [], object: {} }[String(type)] ?? 'text'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
