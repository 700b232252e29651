import type { ToolFailure, ToolResult } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { parseArguments } from '../parse-arguments.ts'
import { unlessStopped } from '../stop-signals.ts'
import { askingAt, printResult, say, type Terminal } from '../terminal.ts'
import { timeoutOf } from '../timeout-flag.ts'

export interface CallFlags {
  json?: boolean
  timeout?: string
}

/** `toolpost call <tool> …`: the result on stdout, or what is wrong with the call on stderr. */
export async function callTool(
  { project, stop: { signal }, terminal }: CommandContext,
  { name, words, flags }: { name: string; words: readonly string[]; flags: CallFlags },
): Promise<number> {
  const { args, repair } = parseArguments(await unlessStopped(withStandardInput(words), signal))
  const timeoutMs = timeoutOf(flags)
  await unlessStopped(project.waitForTool(name, timeoutMs), signal)
  const result = await project.executor.run(
    { name, args },
    { repair, timeoutMs, signal, origin: 'cli', ask: askingAt(terminal) },
  )
  if (flags.json) printResult(terminal, textOf(result))
  else if (result.success) printResult(terminal, resultText(result, terminal))
  else explain(result, terminal)
  return result.success ? EXIT.ok : EXIT.failed
}

/** `-` stands for JSON on standard input. */
async function withStandardInput(words: readonly string[]): Promise<readonly string[]> {
  if (words.length !== 1 || words[0] !== '-') return words
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return [Buffer.concat(chunks).toString('utf8')]
}

function resultText(result: ToolResult & { success: true }, { out }: Terminal): string {
  const { text, result: value } = result
  if (text !== undefined) return text
  const isPlainObject = typeof value === 'object' && value !== null
  const compact = textOf(value)
  return isPlainObject && out.isTTY ? prettyJson(compact) : compact
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
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
