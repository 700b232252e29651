import type { ToolFailure, ToolResult } from '../call/tool-result.ts'
import { textOf } from '../executor/model-text.ts'
import { isObjectLike } from '../util/guards.ts'
import { callExpression, parseArguments, timeoutOf, withStandardInput } from './arguments.ts'
import type { SourceContext } from './context.ts'
import { EXIT } from './exit-codes.ts'
import { unlessStopped } from './stop-signals.ts'
import { askingAt, printResult, progressLine, say, type Terminal } from './terminal.ts'

export interface CallFlags {
  json?: boolean
  timeout?: string
  key?: string
}

/** `toolpost call <tool> …`: prints the result to stdout, or what is wrong with the call to stderr. */
export async function callTool(
  { source, terminal, stop: { signal } }: SourceContext,
  { name: typed, words, flags }: { name: string; words: readonly string[]; flags: CallFlags },
): Promise<number> {
  const timeoutMs = timeoutOf(flags)
  const expression = words.length === 0 ? await callExpression(typed) : undefined
  const given = expression ? [expression.args] : words
  const { args, repair } = parseArguments(await unlessStopped(withStandardInput(given), signal))
  const name = await unlessStopped(source.nameOf(expression?.name ?? typed, timeoutMs), signal)
  const progress = progressLine(terminal)
  const options = { repair, timeoutMs, key: flags.key, signal, ask: askingAt(terminal) }
  const result = await source.call({ name, args }, { ...options, onProgress: progress.show })
  progress.end()
  if (flags.json) printResult(terminal, textOf(result))
  else if (result.success) printResult(terminal, resultText(result, terminal))
  else explain(result, terminal)
  return result.success ? EXIT.ok : EXIT.failed
}

function resultText({ text, result }: ToolResult & { success: true }, { out }: Terminal): string {
  if (text !== undefined) return text
  const compact = textOf(result)
  if (!isObjectLike(result) || !out.isTTY) return compact
  try {
    return JSON.stringify(JSON.parse(compact), null, 2)
  } catch {
    return compact
  }
}

function explain({ error, diagnosis, code }: ToolFailure, terminal: Terminal): void {
  say(terminal, `Error: ${error}`)
  const { signature, suggestions, causes } = diagnosis ?? {}
  if (signature) say(terminal, `  ${signature}`)
  if (suggestions && suggestions.length > 0) say(terminal, `  Did you mean ${suggestions.join(', ')}?`)
  else if (code === 'unknown_tool') say(terminal, '  Run `toolpost tools` to list all tools')
  const shown = code === 'timeout' ? causes : causes?.slice(1)
  if (shown && shown.length > 0) say(terminal, `  Cause: ${shown.join(' ← ')}`)
}
