import type { ToolpostConfig } from '../config/config.ts'
import type { ToolExecutor } from '../executor/tool-executor.ts'
import type { LimitOptions, PolicyRule } from '../interceptors/index.ts'
import type { ChosenClient } from '../models/choose-client.ts'
import type { Requester, Sample } from '../tools/caller.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { readSampling, shownSampling } from './sampling-request.ts'

/** How long the model may take for one message. */
const WRITING_MS = 120_000
/** What one server may ask for, unless `limits` of the configuration say otherwise. */
const SAMPLING_LIMIT: LimitOptions = { concurrency: 2, perMinute: 20 }

/** What a server's request for a message is called in policy, limits, approvals, history and traces. */
function samplingName(server: string): string {
  return `${server}__sampling`
}

/** Those of the servers that may ask. */
export function samplingNames({ mcpServers = {} }: ToolpostConfig): string[] {
  const servers = Object.entries(mcpServers).filter(([, entry]) => entry.sampling === true)
  return servers.map(([name]) => samplingName(name))
}

/** What holds behind all rules of the configuration: the person is asked. */
export function samplingRules(config: ToolpostConfig): PolicyRule[] {
  const tools = samplingNames(config)
  return tools.length === 0 ? [] : [{ tools, then: 'ask', because: 'the server wants to use your model' }]
}

/** What holds unless the configuration has limits of its own for them. */
export function samplingLimits(config: ToolpostConfig): Record<string, LimitOptions> {
  return Object.fromEntries(samplingNames(config).map(name => [name, SAMPLING_LIMIT]))
}

interface SamplingOptions {
  executor: ToolExecutor
  choose(): Promise<ChosenClient>
}

/**
 * Has the project's own model write messages for servers. Each goes the way of every call, as one of a tool that is in
 * no list; rejects with what the server shall read.
 */
export function sampling({ executor, choose }: SamplingOptions): Sample {
  return async (params, { server, signal, from }) => {
    const request = readSampling(params)
    const { writer, name: model } = await choose()
    if (!writer) throw new Error(`No model is available for sampling: Toolpost runs ${model}`)
    const name = samplingName(server)
    const tool = writingTool(name, server, ({ signal: until }) =>
      writer.write({ ...request, timeLimitMs: WRITING_MS, signal: until }),
    )
    const signals = [signal, from?.signal].filter(each => each !== undefined)
    const run = { ...callerOf(from), also: [tool], signal: AbortSignal.any(signals) }
    const result = await executor.run({ name, args: shownSampling(request) }, run)
    if (!result.success) throw new Error(result.error)
    const { text, ...rest } = result.result as Awaited<ReturnType<typeof writer.write>>
    return { role: 'assistant', content: { type: 'text', text }, ...rest }
  }
}

function writingTool(
  name: string,
  server: string,
  write: (options: { signal: AbortSignal }) => unknown,
): Tool {
  return defineTool({
    name,
    title: `Message for ${server}`,
    description: `Has your model write a message for ${server}`,
    schema: { type: 'object' } as Record<string, unknown>,
    timeoutMs: WRITING_MS,
    handler: (_, options) => write(options),
  })
}

/** On whose behalf: a caller without a name goes by where it comes from. */
function callerOf({ caller, origin, ask }: Requester = {}) {
  return { origin, ask, caller: caller === origin ? undefined : caller }
}
