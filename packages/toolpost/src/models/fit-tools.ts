import type { BaseMessage } from '@langchain/core/messages'
import type { Logger } from '../logging/logger.ts'
import { safeText } from '../logging/safe-value.ts'
import { type JsonSchema, jsonSchemaOf } from '../schema/json-schema.ts'
import type { Tool } from '../tools/tool.ts'
import { describeThrown } from '../util/quietly.ts'
import { type FittedSchema, type FittingProvider, fitSchema, safeNames, TOOL_NAME } from './fit-schema.ts'
import type { LangChainMessages } from './load-langchain.ts'
import type { RequestedCall } from './read-reply.ts'
import { offeredName } from './to-qwen-tools.ts'

/** Tools that a provider accepts, whatever their names and schemas. */
export class FittedTools {
  /** In LangChain's format, with JSON Schemas. */
  readonly tools: readonly Tool[]
  readonly #safeNames: ReadonlyMap<string, string>
  readonly #ownNames: ReadonlyMap<string, string>
  readonly #schemas = new Map<string, FittedSchema>()

  constructor(tools: readonly Tool[], provider: FittingProvider, logger: Logger) {
    this.#safeNames = safeNames(tools.map(offeredName), TOOL_NAME)
    this.#ownNames = new Map([...this.#safeNames].map(([name, safe]) => [safe, name]))
    this.tools = tools.map(tool => {
      const name = offeredName(tool)
      const fitted = fitSchema(readSchema(tool, logger), provider)
      this.#schemas.set(name, fitted)
      const { description, invoke, extras } = tool as Tool & { extras?: unknown }
      const shown = { name: this.#safeNames.get(name) ?? name, description, schema: fitted.schema, invoke }
      return extras === undefined ? shown : { ...shown, extras }
    })
  }

  /** A model's call, under the names the executor knows. */
  original(call: RequestedCall): RequestedCall {
    const name = this.#ownNames.get(call.name) ?? call.name
    const args = typeof call.args === 'string' ? call.args : this.#schemas.get(name)?.nameBack(call.args)
    return { ...call, name, args: args ?? call.args }
  }

  /** A conversation under the names the model was given: providers reject others in past calls too. */
  renamed(messages: readonly BaseMessage[], { AIMessage }: LangChainMessages): BaseMessage[] {
    return messages.map(message => {
      const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []
      const tool_calls = calls.map(call => ({
        ...call,
        name: this.#safeNames.get(call.name) ?? call.name,
        args: this.#schemas.get(call.name)?.rename(call.args) ?? call.args,
      }))
      const isSame = tool_calls.every(
        ({ name, args }, at) => name === calls[at]?.name && args === calls[at]?.args,
      )
      return isSame ? message : new AIMessage({ content: message.content as string, tool_calls })
    })
  }
}

/** An unreadable schema is left open: the tool is still offered, and the executor says what is wrong. */
function readSchema(tool: Tool, logger: Logger): JsonSchema {
  try {
    return jsonSchemaOf(tool)
  } catch (error) {
    const reason = safeText(describeThrown(error))
    logger.warn({ tool: safeText(tool.name), reason }, 'Tool offered without its arguments')
    return {}
  }
}
