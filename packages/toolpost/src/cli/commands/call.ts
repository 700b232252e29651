import type { ToolCall } from '../../call/tool-call.ts'
import type { ToolFailure, ToolResult } from '../../call/tool-result.ts'
import { textOf } from '../../executor/model-text.ts'
import type { RunOptions } from '../../executor/options.ts'
import type { Project } from '../../project/project.ts'
import { isObjectLike } from '../../runtime/guards.ts'
import { jsonSchemaOf, requiredOf } from '../../schema/json-schema.ts'
import type { Progress, Tool } from '../../tools/tool.ts'
import type { CommandContext } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import { callExpression, parseArguments } from '../parse-arguments.ts'
import { ProgressLine } from '../progress-line.ts'
import { withStandardInput } from '../standard-input.ts'
import { unlessStopped } from '../stop-signals.ts'
import { askingAt, printResult, say, type Terminal } from '../terminal.ts'
import { timeoutOf } from '../timeout-flag.ts'

export interface CallFlags {
  json?: boolean
  timeout?: string
  key?: string
}

/** `toolpost call <tool> …`: prints the result to stdout, or what is wrong with the call to stderr. */
export async function callTool(
  { project, stop: { signal }, terminal }: CommandContext,
  { name: typed, words, flags }: { name: string; words: readonly string[]; flags: CallFlags },
): Promise<number> {
  const expression = words.length === 0 ? await callExpression(typed) : undefined
  const timeoutMs = timeoutOf(flags)
  const name = await unlessStopped(nameOf(project, expression?.name ?? typed, timeoutMs), signal)
  const wants = wantsOf(project.tools.findTool(name))
  const given = await unlessStopped(withStandardInput(expression ? [expression.args] : words, wants), signal)
  const { args, repair } = parseArguments(given)
  const progress = new ProgressLine(terminal)
  const options = {
    ...{ repair, timeoutMs, signal, origin: 'cli', ask: askingAt(terminal), key: flags.key },
    onProgress: (told: Progress) => progress.show(told),
  }
  const result = await run(project, { name, args }, options)
  progress.end()
  if (flags.json) printResult(terminal, textOf(result))
  else if (result.success) printResult(terminal, resultText(result, terminal))
  else explain(result, terminal)
  return result.success ? EXIT.ok : EXIT.failed
}

/** With a key, or if the configuration says so, the call is durable. Stopping the command cancels it. */
async function run(project: Project, call: ToolCall, options: CallRunOptions): Promise<ToolResult> {
  const { key, signal, ...given } = options
  if (project.isAlwaysDurable(call.name)) await unlessStopped(project.startDurable(), signal)
  if (key === undefined) return project.executor.run(call, { ...given, signal })
  const { openDurable } = await import('../require-durable.ts')
  const runs = await unlessStopped(openDurable(project), signal)
  const accepted = await runs.accept(call, { ...given, key })
  if ('refused' in accepted) return accepted.refused
  const cancel = () => void runs.durable.cancel(accepted.id).catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  return accepted.result.finally(() => signal.removeEventListener('abort', cancel))
}

type CallRunOptions = RunOptions & { key: string | undefined; signal: AbortSignal }

/** Whether a call needs arguments, accepts some, or accepts none. */
function wantsOf(tool: Tool | undefined): 'needed' | 'possible' | 'none' {
  if (!tool) return 'none'
  const schema = jsonSchemaOf(tool)
  if (requiredOf(schema).length > 0) return 'needed'
  const isClosed = schema.additionalProperties === false && Object.keys(schema.properties ?? {}).length === 0
  return isClosed ? 'none' : 'possible'
}

/** The name under which a tool given as `server.tool` is registered. */
async function nameOf(project: Project, typed: string, timeoutMs: number | undefined): Promise<string> {
  const dot = typed.indexOf('.')
  const server = typed.slice(0, Math.max(dot, 0))
  const isServer = Object.hasOwn(project.config.mcpServers ?? {}, server)
  if (!isServer) {
    await project.waitForTool(typed, timeoutMs)
    return typed
  }
  await project.waitForServer(server, typed, timeoutMs)
  const { tools } = project
  const found = tools.getTools().find(tool => {
    const origin = tools.originOf(tool)
    return origin?.server === server && origin.name === typed.slice(dot + 1)
  })
  return found?.name ?? typed
}

function resultText(result: ToolResult & { success: true }, { out }: Terminal): string {
  const { text, result: value } = result
  if (text !== undefined) return text
  const compact = textOf(value)
  return isObjectLike(value) && out.isTTY ? prettyJson(compact) : compact
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
