// The contenders. `create(work, limitMs)` returns the function that is timed: arguments in, an outcome out.
// `answerOf` extracts the tool's value from that outcome; it is used to check the contender and is not timed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { executeTool, safeValidateTypes } from '@ai-sdk/provider-utils'
import { AIMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { createTool } from '@mastra/core/tools'
import { tool as agentsTool, RunContext } from '@openai/agents'
import { tool as aiTool } from 'ai'
import pino from 'pino'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { openHistory } from 'toolpost/history'
import { limits, policy, trace } from 'toolpost/interceptors'
import { naiveExecutor } from './naive.mjs'
import { DESCRIPTION, forecastReadingSignal, JSON_SCHEMA, NAME, ZOD_SCHEMA } from './sample-tool.mjs'

const CALL_ID = 'call_1'

/** A logger that does all of a logger's work and writes nowhere. */
const sinkLogger = () => pino({ level: 'info' }, { write() {} })

const folder = mkdtempSync(join(tmpdir(), 'toolpost-bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const history = await openHistory({ file: join(folder, 'history.db') })

const FULL = { validates: true, hasDeadline: true }
/** Writing the calls must not be charged to the next contender. */
const settle = () => history.list({ limit: 1 })

const asInterceptor = executor => executor.use((_call, next) => next())
const withHistory = { prepare: executor => history.observe(executor), settle }

export const CONTENDERS = [
  peer('naive', 'naive', naiveExecutor, FULL),
  peer('naive-signal', 'naive, tool reads its signal', naiveExecutor, {
    ...FULL,
    work: forecastReadingSignal,
  }),
  toolpost('toolpost', 'Toolpost'),
  toolpost('toolpost-signal', 'Toolpost, tool reads its signal', { work: forecastReadingSignal }),
  toolpost('toolpost-logging', 'Toolpost, logging with pino to a sink', { logger: sinkLogger() }),
  toolpost('toolpost-interceptor', 'Toolpost, an interceptor that only calls next()', {
    prepare: asInterceptor,
  }),
  toolpost('toolpost-history', 'Toolpost, history on', withHistory),
  toolpost('toolpost-project', 'Toolpost as in a project: policy, limits, trace and history on', {
    prepare: asInProject,
    settle,
  }),
  peer('ai', 'AI SDK executeTool, no validation', aiSdk, {}),
  peer('ai-validated', 'AI SDK executeTool, validated', aiSdkValidated),
  peer('mastra', 'Mastra execute', mastra),
  peer('agents', 'OpenAI Agents invoke', work => openAiAgents(work)),
  peer('agents-timeout', 'OpenAI Agents invoke, timeoutMs', openAiAgents, FULL),
  peer('langchain', 'LangChain tool.invoke', langchain),
  peer('toolnode', 'LangGraph ToolNode', toolNode, {
    validates: true,
    answerOf: ({ messages }) => messages[0].content,
  }),
]

function peer(id, title, create, more = { validates: true }) {
  return { id, title, create, answerOf: outcome => outcome, ...more }
}

/** The interceptors of a project, in their order, with a limit that applies to the tool. */
function asInProject(executor) {
  executor.use(trace())
  executor.use(policy())
  executor.use(limits({ tools: { '*': { concurrency: 100 } } }))
  history.observe(executor)
}

function toolpost(id, title, { work, logger, prepare, settle } = {}) {
  const create = (handler, timeoutMs) => {
    const tool = defineTool({ name: NAME, description: DESCRIPTION, schema: JSON_SCHEMA, handler })
    const executor = new ToolExecutor(new ToolManager({ tools: [tool] }), { timeoutMs, logger })
    prepare?.(executor)
    return args => executor.run({ id: CALL_ID, name: NAME, args })
  }
  return { id, title, work, ...FULL, create, settle, answerOf: toolpostValue }
}

function toolpostValue(result) {
  if (!result.success) throw new Error(result.error)
  return result.result
}

function aiSdk(work) {
  const tool = aiTool({ description: DESCRIPTION, inputSchema: ZOD_SCHEMA, execute: work })
  const options = { toolCallId: CALL_ID, messages: [] }
  return input => finalOutput(executeTool({ tool, input, options }))
}

function aiSdkValidated(work) {
  const tool = aiTool({ description: DESCRIPTION, inputSchema: ZOD_SCHEMA, execute: work })
  const options = { toolCallId: CALL_ID, messages: [] }
  return async args => {
    const checked = await safeValidateTypes({ value: args, schema: tool.inputSchema })
    if (!checked.success) throw checked.error
    return finalOutput(executeTool({ tool, input: checked.value, options }))
  }
}

async function finalOutput(parts) {
  let output
  for await (const part of parts) if (part.type === 'final') output = part.output
  return output
}

function mastra(work) {
  const tool = createTool({ id: NAME, description: DESCRIPTION, inputSchema: ZOD_SCHEMA, execute: work })
  return args => tool.execute(args, {})
}

/** Its interface takes arguments as JSON text. */
function openAiAgents(work, timeoutMs) {
  const parameters = ZOD_SCHEMA.extend({ days: ZOD_SCHEMA.shape.days.nullable() })
  const execute = (args, _context, details) => work(args, details)
  const tool = agentsTool({ name: NAME, description: DESCRIPTION, parameters, execute, timeoutMs })
  const context = new RunContext()
  return args => tool.invoke(context, JSON.stringify(args))
}

function langchain(work) {
  const tool = langchainTool(work, { name: NAME, description: DESCRIPTION, schema: ZOD_SCHEMA })
  return args => tool.invoke(args)
}

function toolNode(work) {
  const tool = langchainTool(work, { name: NAME, description: DESCRIPTION, schema: ZOD_SCHEMA })
  const node = new ToolNode([tool])
  const message = args => new AIMessage({ content: '', tool_calls: [{ id: CALL_ID, name: NAME, args }] })
  return args => node.invoke({ messages: [message(args)] })
}
