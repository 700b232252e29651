import type { ToolInfo } from '../gateway/api-types.ts'
import { escapeControls } from '../logging/safe-value.ts'
import { propertiesOf, requiredOf } from '../schema/json-schema.ts'
import { isRecord } from '../util/guards.ts'
import type { SourceContext } from './context.ts'
import { EXIT, unlessStopped } from './exit.ts'
import { printJson, say } from './terminal.ts'

/** `toolpost tools [NAME]`: lists the tools, those of a server, or one tool with an example. */
export async function listTools({
  source,
  stop,
  terminal,
  ...given
}: SourceContext<[string?]>): Promise<number> {
  const [name] = given.words
  const { json = false, search } = given.flags
  const { tools, starting } = await unlessStopped(source.tools({ name, search, isComplete: json }), stop)
  if (name === undefined)
    for (const server of starting)
      say(terminal, `Server '${server}' is still starting; to wait for it: toolpost tools ${server}`)
  const ofServer = tools.filter(tool => tool.source === name)
  const named = ofServer.length > 0 ? ofServer : tools.filter(tool => tool.name === name)
  const shown = name === undefined ? tools : named
  const [only] = shown
  if (!only && (search ?? name) !== undefined) {
    say(terminal, search === undefined ? `No server or tool named '${name}'` : `No tool matches '${search}'`)
    return EXIT.failed
  }
  if (json) return printJson(terminal, shown)
  terminal.out.write(only && name === only.name ? page(only) : shown.map(paragraph).join(''))
  return EXIT.ok
}

/** Control characters in what a server sends are shown, not interpreted. */
function paragraph({ source, signature, description }: ToolInfo): string {
  const from = source === 'local' ? '' : ` (from ${escapeControls(source)})`
  return `${escapeControls(signature)}${from}\n    ${escapeControls(description.replace(/\s+/g, ' ').trim())}\n`
}

/** One tool in full, with an example call to copy. */
function page({ name, source, signature, description, schema, ...tool }: ToolInfo): string {
  const marks = [
    tool.readOnly && 'read-only',
    tool.idempotent && 'idempotent',
    tool.destructive && 'destructive',
  ]
  const facts = [source === 'local' ? 'local' : `from ${source}`, ...marks.filter(Boolean)]
  const known = propertiesOf(schema)
  const words = [name, ...requiredOf(schema).map(each => `${each}=${exampleOf(known[each])}`)]
  const quoted = words.map(word => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
  const text = description.trim().split('\n').map(escapeControls).join('\n')
  return `${escapeControls(`${signature} (${facts.join(', ')})`)}\n${text}\n\ntoolpost call ${quoted.join(' ')}\n`
}

const EXAMPLES: Record<string, string> = {
  number: '1',
  integer: '1',
  boolean: 'true',
  array: '[]',
  object: '{}',
}

/** The schema's own example, or a value of its type. */
function exampleOf(schema: unknown): string {
  if (!isRecord(schema)) return 'text'
  const { examples, default: usual, const: only, enum: choices, minimum, type } = schema
  const first = (list: unknown) => (Array.isArray(list) ? list[0] : undefined)
  const given = first(examples) ?? usual ?? only ?? first(choices) ?? minimum
  if (given === undefined) return EXAMPLES[String([type].flat()[0])] ?? 'text'
  return typeof given === 'string' ? given : JSON.stringify(given)
}
