import type { ToolFailure } from '../call/tool-result.ts'
import { textOf } from '../executor/model-text.ts'
import { jsonProblem, positionIn } from '../project/source.ts'
import { isObjectLike } from '../util/guards.ts'
import type { Context, Flags } from './context.ts'
import { EXIT, UsageError, unlessStopped } from './exit.ts'
import { openSource } from './source.ts'
import { asking, print, progressLine, say } from './terminal.ts'

/** `toolpost call <tool> …`: prints the result to stdout, or what is wrong with the call to stderr. */
export async function callTool(context: Context<[string, string[]]>): Promise<number> {
  const { flags } = context
  const [tool, words] = context.words
  const timeoutMs = timeoutOf(flags)
  const { args, repair } = parseArguments(words[0] === '-' ? [await unlessStopped(standardInput())] : words)
  const source = await openSource(context)
  const name = await unlessStopped(source.nameOf(tool, timeoutMs))
  const progress = progressLine()
  const options = { repair, timeoutMs, key: flags.key, ask: asking(), onProgress: progress.show }
  const result = await source.call({ name, args }, options)
  progress.end()
  if (flags.json) print(textOf(result))
  else if (!result.success) explain(result)
  else if (result.text === undefined && isObjectLike(result.result) && process.stdout.isTTY)
    print(JSON.stringify(result.result, null, 2))
  else print(result.text ?? textOf(result.result))
  return result.success ? EXIT.ok : EXIT.failed
}

function explain({ error, diagnosis, code }: ToolFailure): void {
  say(`Error: ${error}`)
  const { signature, suggestions = [], causes = [] } = diagnosis ?? {}
  if (signature) say(`  ${signature}`)
  if (suggestions.length > 0) say(`  Did you mean ${suggestions.join(', ')}?`)
  else if (code === 'unknown_tool') say('  Run `toolpost tools` to list all tools')
  const shown = code === 'timeout' ? causes : causes.slice(1)
  if (shown.length > 0) say(`  Cause: ${shown.join(' ← ')}`)
}

/**
 * One JSON text, or any number of `key=value`; a key given twice makes a list. What a person typed as `key=value` is
 * coerced to the schema, JSON is taken as it is.
 */
function parseArguments(words: readonly string[]): { args: unknown; repair: boolean } {
  const [first] = words
  const isPair = (word: string) => /^[^\s=:{}[\]"']+=/.test(word)
  if (first !== undefined && words.length === 1 && !isPair(first))
    return { args: fromJson(first), repair: false }
  const pairs = new Map<string, string | string[]>()
  for (const word of words) {
    if (!isPair(word)) throw neither(word)
    const [key = ''] = word.split('=', 1)
    const [value, before] = [word.slice(key.length + 1), pairs.get(key)]
    pairs.set(key, before === undefined ? value : [before, value].flat())
  }
  return { args: Object.fromEntries(pairs), repair: true }
}

const neither = (word: string) =>
  new UsageError(`expected key=value or a single JSON argument, got '${word}'`)

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (!/^\s*(?:$|[[{"\d-])/.test(text)) throw neither(text)
    const { words = (cause as Error).message, offset = 0 } =
      jsonProblem(text, { disallowComments: true }) ?? {}
    const { line, column } = positionIn(text, offset)
    throw new UsageError(`the arguments are not JSON: ${words} at line ${line}, column ${column}`, { cause })
  }
}

export function timeoutOf({ timeout }: Flags): number | undefined {
  if (timeout === undefined || Number(timeout) > 0) return timeout === undefined ? undefined : Number(timeout)
  throw new UsageError(`--timeout expects milliseconds, got '${timeout}'`)
}

let input: Promise<string> | undefined

/** Read once, even if the call is made again in this process. */
function standardInput(): Promise<string> {
  input ??= import('node:stream/consumers').then(({ text }) => text(process.stdin))
  return input
}
