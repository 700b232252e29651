import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { describeThrown } from '../../runtime/quietly.ts'
import { type JsonSchema, jsonSchemaOf } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'
import type { LangChainMessages } from '../load-langchain.ts'
import type { RequestedCall } from '../read-reply.ts'
import { type FittedSchema, fitSchema } from './fit-schema.ts'
import { type FittingProvider, TOOL_NAME } from './rules.ts'
import { safeNames } from './safe-names.ts'

interface FitOptions {
  provider: FittingProvider
  logger: Logger
  /** The name a tool is offered under; its `name` if left out. */
  nameOf?: ((tool: Tool) => string) | undefined
}

/** Makes every tool acceptable to a provider, whatever its name and schema. */
export class FittedTools {
  /** In LangChain's format; a tool that needs no changes is passed through. */
  readonly tools: readonly Tool[]
  readonly #safeNames: ReadonlyMap<string, string>
  readonly #ownNames: ReadonlyMap<string, string>
  readonly #schemas = new Map<string, FittedSchema>()

  constructor(tools: readonly Tool[], { provider, logger, nameOf = ({ name }) => name }: FitOptions) {
    this.#safeNames = safeNames(tools.map(nameOf), TOOL_NAME)
    this.#ownNames = new Map([...this.#safeNames].map(([name, safe]) => [safe, name]))
    this.tools = tools.map(tool => {
      const name = nameOf(tool)
      const fitted = fittedSchemaOf(tool, provider, logger)
      this.#schemas.set(name, fitted)
      const safe = this.#safeNames.get(name)
      return safe === undefined && fitted.changes.length === 0 ? tool : offered(tool, safe ?? name, fitted)
    })
  }

  /** A model's call, under the names the executor knows. */
  original<Call extends RequestedCall>(call: Call): Call {
    const name = this.#ownNames.get(call.name) ?? call.name
    const args = typeof call.args === 'string' ? call.args : this.#schemas.get(name)?.nameBack(call.args)
    return { ...call, name, args: args ?? call.args }
  }

  /** A conversation under the names the model was given: providers reject others in past calls too. */
  renamed(messages: readonly BaseMessage[], langchain: LangChainMessages): BaseMessage[] {
    return messages.map(message => {
      if (langchain.AIMessage.isInstance(message)) return this.#renamedCalls(message, langchain)
      const { name } = message
      const safe = name === undefined ? undefined : this.#safeNames.get(name)
      if (safe === undefined || !langchain.ToolMessage.isInstance(message)) return message
      const { content, tool_call_id, status } = message as ToolMessage
      return new langchain.ToolMessage({ content, tool_call_id, name: safe, status: status ?? 'success' })
    })
  }

  #renamedCalls(message: AIMessage, langchain: LangChainMessages): AIMessage {
    let isChanged = false
    const tool_calls = (message.tool_calls ?? []).map(call => {
      const name = this.#safeNames.get(call.name) ?? call.name
      const args = this.#schemas.get(call.name)?.rename(call.args) ?? call.args
      isChanged ||= name !== call.name || args !== call.args
      return { ...call, name, args }
    })
    return isChanged ? new langchain.AIMessage({ content: message.content as string, tool_calls }) : message
  }
}

function offered(tool: Tool, name: string, { schema }: FittedSchema): Tool {
  const { description, invoke } = tool
  const { extras } = tool as { extras?: unknown }
  return { name, description, schema, invoke, ...(extras !== undefined && { extras }) }
}

/** Cached: a question may come with thousands of tools. */
const known = new WeakMap<object, Map<FittingProvider, FittedSchema>>()

function fittedSchemaOf(tool: Tool, provider: FittingProvider, logger: Logger): FittedSchema {
  const before = known.get(tool.schema)
  const fitted = before?.get(provider)
  if (fitted) return fitted
  const made = fitSchema(readSchema(tool, logger), provider)
  known.set(tool.schema, (before ?? new Map<FittingProvider, FittedSchema>()).set(provider, made))
  const changes = made.changes.map(({ place, keyword, change }) => safeText(`${place} ${keyword}: ${change}`))
  if (changes.length > 0)
    logger.debug({ tool: safeText(tool.name), provider, changes }, 'Schema fitted to the provider')
  return made
}

/** An unreadable schema is left open: the tool is still offered, and the executor says what is wrong. */
function readSchema(tool: Tool, logger: Logger): JsonSchema {
  try {
    return jsonSchemaOf(tool)
  } catch (error) {
    const fields = { tool: safeText(tool.name), place: '#', keyword: '~standard' }
    logger.warn({ ...fields, reason: safeText(describeThrown(error)) }, 'Tool offered without its arguments')
    return {}
  }
}
