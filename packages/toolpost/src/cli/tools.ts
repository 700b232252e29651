import type { ToolInfo } from '../gateway/api-types.ts'
import { escapeControls } from '../logging/safe-value.ts'
import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { isRecord } from '../util/guards.ts'
import type { Context } from './context.ts'
import { EXIT, unlessStopped } from './exit.ts'
import { isStarting, openSource } from './source.ts'
import { printJson, say } from './terminal.ts'

/** `toolpost tools [NAME]`: lists the tools, those of a server, or one tool with an example. */
export async function listTools(context: Context<[string?]>): Promise<number> {
  const { json = false, search } = context.flags
  const [name] = context.words
  const source = await openSource(context)
  const { tools, servers } = await unlessStopped(source.tools({ name, search, isComplete: json }))
  for (const server of name === undefined ? servers.filter(isStarting) : [])
    say(`Server '${server.name}' is still starting; to wait for it: toolpost tools ${server.name}`)
  const ofServer = tools.filter(tool => tool.source === name)
  const named = ofServer.length > 0 ? ofServer : tools.filter(tool => tool.name === name)
  const shown = name === undefined ? tools : named
  const [only] = shown
  if (!only && (search ?? name) !== undefined) {
    const server = servers.find(each => each.name === name)
    const missing = server
      ? `Server '${name}' has no tools: ${server.error ?? `it is ${server.state}`}`
      : `No server or tool named '${name}'`
    say(search === undefined ? missing : `No tool matches '${search}'`)
    return EXIT.failed
  }
  if (json) return printJson(shown)
  process.stdout.write(only && name === only.name ? page(only) : shown.map(paragraph).join(''))
  return EXIT.ok
}

/** Control characters in what a server sends are shown, not interpreted. */
function paragraph({ source, signature, description }: ToolInfo): string {
  const from = source === 'local' ? '' : ` (from ${escapeControls(source)})`
  return `${escapeControls(signature)}${from}\n    ${escapeControls(description.replace(/\s+/g, ' ').trim())}\n`
}

function page({ name, source, signature, description, schema, ...tool }: ToolInfo): string {
  const marks = { 'read-only': tool.readOnly, idempotent: tool.idempotent, destructive: tool.destructive }
  const known = Object.entries(marks).flatMap(([mark, isSet]) => (isSet ? [mark] : []))
  const facts = [source === 'local' ? 'local' : `from ${source}`, ...known]
  const properties = propertiesOf(schema)
  const words = [name, ...requiredOf(schema).map(each => `${each}=${exampleOf(properties[each])}`)]
  const quoted = words.map(word => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
  const text = description.trim().split('\n').map(escapeControls).join('\n')
  return `${escapeControls(`${signature} (${facts.join(', ')})`)}\n${text}\n\ntoolpost call ${quoted.join(' ')}\n`
}

function exampleOf(schema: unknown): string {
  const { examples, default: usual, enum: choices, type } = isRecord(schema) ? schema : {}
  const [given] = [examples, usual, choices].flat().filter(value => value !== undefined)
  const ofType = { number: 1, integer: 1, boolean: true, array: [], object: {} }[String(type)]
  const value = given ?? ofType ?? 'text'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
