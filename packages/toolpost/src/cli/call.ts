import type { ToolCall } from '../call/tool-call.ts'
import type { ToolFailure, ToolResult } from '../call/tool-result.ts'
import { textOf } from '../executor/model-text.ts'
import type { RunOptions } from '../executor/options.ts'
import type { ToolInfo } from '../gateway/api-types.ts'
import type { Project } from '../project/project.ts'
import { isObjectLike } from '../runtime/guards.ts'
import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import {
  callExpression,
  parseArguments,
  type TypedArguments,
  timeoutOf,
  wantsOf,
  withStandardInput,
} from './arguments.ts'
import type { BareContext, CommandContext } from './context.ts'
import { EXIT } from './exit-codes.ts'
import type { GatewayClient } from './gateway-client.ts'
import { unlessStopped } from './stop-signals.ts'
import { askingAt, ProgressLine, printResult, say, type Terminal } from './terminal.ts'

export interface CallFlags {
  json?: boolean
  timeout?: string
  key?: string
}

/** `toolpost call <tool> …`: prints the result to stdout, or what is wrong with the call to stderr. */
export class CallCommand {
  readonly #words: readonly string[]
  readonly #flags: CallFlags
  readonly #timeoutMs: number | undefined
  #name: string
  #typed: TypedArguments | undefined

  private constructor(name: string, words: readonly string[], flags: CallFlags) {
    this.#name = name
    this.#words = words
    this.#flags = flags
    this.#timeoutMs = timeoutOf(flags)
  }

  static async parse(name: string, words: readonly string[], flags: CallFlags): Promise<CallCommand> {
    const expression = words.length === 0 ? await callExpression(name) : undefined
    return new CallCommand(expression?.name ?? name, expression ? [expression.args] : words, flags)
  }

  /** In the running gateway. `undefined` if it cannot run it: then it runs here. */
  async runIn(
    gateway: GatewayClient,
    { terminal, stop: { signal } }: BareContext,
  ): Promise<number | undefined> {
    let schema: JsonSchema | undefined
    let name = this.#name
    if (this.#words.length === 0 || name.includes('.')) {
      const { tools = [] } = ((await gateway.get('/api/tools').catch(() => ({}))) ?? {}) as {
        tools?: ToolInfo[]
      }
      const dot = name.indexOf('.')
      const [server, own] = [name.slice(0, Math.max(0, dot)), name.slice(dot + 1)]
      const found =
        tools.find(tool => tool.name === name) ??
        tools.find(tool => tool.source === server && [own, `${server}__${own}`].includes(tool.name))
      if (!found) return undefined
      name = found.name
      schema = found.schema as JsonSchema
    }
    const { args, repair } = await this.#arguments(schema, signal)
    const progress = new ProgressLine(terminal)
    const { callRemotely } = await import('./remote-call.ts')
    const result = await callRemotely(gateway, {
      ...{ name, args, repair, timeoutMs: this.#timeoutMs, key: this.#flags.key, signal },
      ask: askingAt(terminal),
      onProgress: told => progress.show(told),
    })
    progress.end()
    return result && this.#print(result, terminal)
  }

  /** In a project of its own. */
  async run({ project, terminal, stop: { signal } }: CommandContext): Promise<number> {
    // Calls from the command line go into the history too, if there is one, once their answer is printed.
    await project.keepHistory({ lazy: true, unasked: false })
    const name = await unlessStopped(nameOf(project, this.#name, this.#timeoutMs), signal)
    const tool = project.tools.findTool(name)
    const { args, repair } = await this.#arguments(tool && jsonSchemaOf(tool), signal)
    const progress = new ProgressLine(terminal)
    const options = {
      ...{ repair, timeoutMs: this.#timeoutMs, signal, origin: 'cli', ask: askingAt(terminal) },
      onProgress: progress.show.bind(progress),
    }
    const result = await run(project, { name, args }, { ...options, key: this.#flags.key })
    progress.end()
    return this.#print(result, terminal)
  }

  /** Standard input can be read only once. */
  async #arguments(schema: JsonSchema | undefined, signal: AbortSignal): Promise<TypedArguments> {
    this.#typed ??= parseArguments(
      await unlessStopped(withStandardInput(this.#words, wantsOf(schema)), signal),
    )
    return this.#typed
  }

  #print(result: ToolResult, terminal: Terminal): number {
    if (this.#flags.json) printResult(terminal, textOf(result))
    else if (result.success) printResult(terminal, resultText(result, terminal))
    else explain(result, terminal)
    return result.success ? EXIT.ok : EXIT.failed
  }
}

/** With a key, or if the configuration says so, the call is durable. Stopping the command cancels it. */
async function run(
  project: Project,
  call: ToolCall,
  { key, signal, ...given }: RunOptions & { key: string | undefined; signal: AbortSignal },
): Promise<ToolResult> {
  if (project.isAlwaysDurable(call.name)) await unlessStopped(project.startDurable(), signal)
  if (key === undefined) return project.executor.run(call, { ...given, signal })
  const { openDurable } = await import('./durable.ts')
  const runs = await unlessStopped(openDurable(project), signal)
  const accepted = await runs.accept(call, { ...given, key })
  if ('refused' in accepted) return accepted.refused
  const cancel = () => void runs.durable.cancel(accepted.id).catch(() => {})
  signal.addEventListener('abort', cancel, { once: true })
  return accepted.result.finally(() => signal.removeEventListener('abort', cancel))
}

/** The name under which a tool given as `server.tool` is registered. */
async function nameOf(project: Project, typed: string, timeoutMs: number | undefined): Promise<string> {
  const dot = typed.indexOf('.')
  const server = typed.slice(0, Math.max(dot, 0))
  if (!Object.hasOwn(project.config.mcpServers ?? {}, server)) {
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
