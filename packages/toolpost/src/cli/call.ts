import type { ToolFailure } from '../call/tool-result.ts'
import { textOf } from '../executor/model-text.ts'
import { jsonProblem, positionIn } from '../project/source.ts'
import { isObjectLike } from '../util/guards.ts'
import type { Flags, SourceContext } from './context.ts'
import { EXIT, UsageError, unlessStopped } from './exit.ts'
import { askingAt, printResult, progressLine, say, type Terminal } from './terminal.ts'

/** `toolpost call <tool> …`: prints the result to stdout, or what is wrong with the call to stderr. */
export async function callTool(context: SourceContext<[string, string[]]>): Promise<number> {
  const { source, terminal, stop, flags } = context
  const [given, words] = context.words
  const timeoutMs = timeoutOf(flags)
  const isPiped = words.length === 1 && words[0] === '-'
  const { args, repair } = parseArguments(isPiped ? [await unlessStopped(standardInput(), stop)] : words)
  const name = await unlessStopped(source.nameOf(given, timeoutMs), stop)
  const progress = progressLine(terminal)
  const options = { repair, timeoutMs, key: flags.key, signal: stop.signal, ask: askingAt(terminal) }
  const result = await source.call({ name, args }, { ...options, onProgress: progress.show })
  progress.end()
  const isPretty =
    result.success && result.text === undefined && isObjectLike(result.result) && terminal.out.isTTY
  if (flags.json) printResult(terminal, textOf(result))
  else if (!result.success) explain(result, terminal)
  else if (isPretty) printResult(terminal, JSON.stringify(result.result, null, 2))
  else printResult(terminal, result.text ?? textOf(result.result))
  return result.success ? EXIT.ok : EXIT.failed
}

function explain({ error, diagnosis, code }: ToolFailure, terminal: Terminal): void {
  say(terminal, `Error: ${error}`)
  const { signature, suggestions = [], causes = [] } = diagnosis ?? {}
  if (signature) say(terminal, `  ${signature}`)
  if (suggestions.length > 0) say(terminal, `  Did you mean ${suggestions.join(', ')}?`)
  else if (code === 'unknown_tool') say(terminal, '  Run `toolpost tools` to list all tools')
  const shown = code === 'timeout' ? causes : causes.slice(1)
  if (shown.length > 0) say(terminal, `  Cause: ${shown.join(' ← ')}`)
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
const MAX_SHOWN = 60

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (!/^\s*(?:$|[[{"\d-])/.test(text)) throw neither(text)
    const found = jsonProblem(text, { disallowComments: true })
    const { words, offset } = found ?? { words: (cause as Error).message, offset: 0 }
    const { line, column } = positionIn(text, offset)
    const from = Math.max(0, column - 1 - MAX_SHOWN / 2)
    const shown = text.split('\n')[line - 1]?.slice(from, from + MAX_SHOWN) ?? ''
    const where = `at line ${line}, column ${column}\n  ${shown}\n  ${' '.repeat(column - 1 - from)}^`
    throw new UsageError(`the arguments are not JSON: ${words} ${where}`, { cause })
  }
}

/** The milliseconds of `--timeout`, if it was given. */
export function timeoutOf({ timeout }: Flags): number | undefined {
  if (timeout === undefined || Number(timeout) > 0) return timeout === undefined ? undefined : Number(timeout)
  throw new UsageError(`--timeout expects milliseconds, got '${timeout}'`)
}

async function standardInput(): Promise<string> {
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  return text
}
