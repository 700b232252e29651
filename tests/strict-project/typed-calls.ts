// What strict types allow and forbid. Compiled, never run: see code-blocks.test.ts.
import { declareTools, defineTool, type Tool, ToolExecutor, ToolManager, type ToolResult } from 'toolpost'
import type { ToolpostConfig } from 'toolpost/config'
import type { createGateway } from 'toolpost/gateway'
import type { openHistory } from 'toolpost/history'
import { Approvals, breaker, limits, policy, trace } from 'toolpost/interceptors'
import type { McpIntegration } from 'toolpost/mcp'
import type { openProject } from 'toolpost/project'
import { z } from 'zod'

export type EverySubpath = [
  ToolpostConfig,
  typeof createGateway,
  McpIntegration,
  typeof openProject,
  typeof openHistory,
]

/** Each can be used alone, in one line. */
export function control(executor: ToolExecutor): void {
  executor.use(policy([{ tools: 'fs__*', then: 'ask' }], { approvals: new Approvals() }))
  executor.use(limits({ tools: { 'fs__*': { concurrency: 4, perMinute: 100 } } }))
  executor.use(breaker())
  executor.use(trace())
}

/** Compiles only if the two are the same type. */
function same<A>() {
  return <B>(_: [A] extends [B] ? ([B] extends [A] ? true : never) : never) => {}
}

const weather = defineTool({
  name: 'weather',
  description: 'The weather somewhere',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' }, unit: { enum: ['c', 'f'] } },
    required: ['city'],
    additionalProperties: false,
  },
  handler({ city, days, unit }) {
    same<typeof city>()<string>(true)
    same<typeof days>()<number | undefined>(true)
    same<typeof unit>()<'c' | 'f' | undefined>(true)
    return { city, degrees: 22 }
  },
})

/** Recursive schemas are inferred down to the recursion. */
defineTool({
  name: 'save_tree',
  description: 'Saves a tree',
  schema: {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    required: ['name'],
  },
  handler({ name, children }) {
    same<typeof name>()<string>(true)
    same<typeof children>()<unknown[] | undefined>(true)
  },
})

const search = defineTool({
  name: 'search',
  description: 'Searches',
  schema: z.object({ query: z.string(), limit: z.string().default('5').transform(Number) }),
  async handler({ query, limit }) {
    same<typeof limit>()<number>(true)
    return [query, limit.toFixed(0)]
  },
})

const schema: Record<string, unknown> = { type: 'object' }
const open = defineTool({ name: 'open', description: 'd', schema, handler: args => args.anything })
const annotated = defineTool<{ a: string }>({ name: 'a', description: 'd', schema, handler: ({ a }) => a })

export async function calls(executor: ToolExecutor): Promise<void> {
  const result = await executor.run({ tool: weather, args: { city: 'Oslo', unit: 'c' } })
  same<typeof result>()<ToolResult<{ city: string; degrees: number }>>(true)
  if (result.success) result.result.degrees.toFixed()

  // @ts-expect-error city is a string
  await executor.run({ tool: weather, args: { city: 5 } })
  // @ts-expect-error city is missing
  await executor.run({ tool: weather, args: {} })
  // @ts-expect-error there is no such unit
  await executor.run({ tool: weather, args: { city: 'Oslo', unit: 'kelvin' } })
  // @ts-expect-error there is no such argument
  await executor.run({ tool: weather, args: { city: 'Oslo', country: 'Norway' } })
  // @ts-expect-error the same, without the executor
  weather.invoke({ city: 5 })

  const found = await executor.run({ tool: search, args: { query: 'x' } })
  same<typeof found>()<ToolResult<string[]>>(true)
  // @ts-expect-error callers pass the input type, not the output
  await executor.run({ tool: search, args: { query: 'x', limit: 5 } })

  await executor.run({ tool: open, args: { anything: 1 } })
  await executor.run({ tool: annotated, args: { a: 'x' } })
  // @ts-expect-error a is a string
  await executor.run({ tool: annotated, args: { a: 1 } })

  // Calls from a model are checked at run time.
  const asked: ToolResult = await executor.run({ id: '1', name: 'weather', args: { city: 5 } as unknown })
  if (asked.success) same<typeof asked.result>()<unknown>(true)
}

export function registration(): Tool[] {
  const tools = new ToolManager()
  for (const tool of [weather, search, open, annotated]) tools.addCustomTool(tool)
  defineTool({
    name: 'wrong',
    description: 'd',
    schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    // @ts-expect-error n is a number
    handler: ({ n }: { n: string }) => n,
  })
  declareTools([
    { name: 'm', description: 'd', implementation: { type: 'mock', mock_response: { temperature: 22 } } },
    { name: 'b', description: 'd', implementation: { type: 'builtin', handler: 'echo' } },
    // @ts-expect-error a builtin has a handler
    { name: 'h', description: 'd', implementation: { type: 'builtin' } },
    // @ts-expect-error there is no such type
    { name: 't', description: 'd', implementation: { type: 'magic' } },
  ])
  return tools.getTools()
}

export const executor: ToolExecutor = new ToolExecutor(new ToolManager())
