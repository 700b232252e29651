import type { ToolExecutor } from '../../executor/executor.ts'
import { foldedName, namingOf } from '../../executor/names.ts'
import type { CallerOptions } from '../../executor/options.ts'
import type { Logger } from '../../logging/logger.ts'
import { safeText, safeValue } from '../../logging/safe-value.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Reply, RequestedCall } from '../read-reply.ts'
import { type FoundCall, findCall, findThoughtCall } from './find-call.ts'
import { HeldTokens, THINK, THOUGHT } from './held-tokens.ts'
import { isPlaceholder } from './placeholder.ts'

export interface SalvageSetup extends CallerOptions {
  executor: ToolExecutor
  /** What the model was offered. */
  tools: readonly Tool[]
  logger: Logger
  signal: AbortSignal
  /** The conversation so far: a model that repeats a part of it is not making a call. */
  heard: () => string
  /** Translates a call to the names the executor knows. */
  original: (call: RequestedCall) => RequestedCall
}

/**
 * Recovers a call that a small model wrote as text. Only if the reply has no real calls, consists of nothing but this
 * one, and the call could run as written: an offered tool, valid arguments, no approval needed.
 */
export class Salvage {
  readonly #setup: SalvageSetup
  readonly #tokens: HeldTokens

  constructor(speak: (token: string) => void, setup: SalvageSetup) {
    this.#setup = setup
    this.#tokens = new HeldTokens(
      speak,
      setup.tools.map(({ name }) => name),
    )
  }

  hear(token: string): void {
    this.#tokens.add(token)
  }

  /** The reply, with a call in place of its text if it is one. Otherwise the text held back is passed on. */
  async settle(reply: Reply): Promise<Reply> {
    const salvaged = reply.calls.length > 0 ? undefined : await this.#find(reply)
    this.#tokens.end(salvaged !== undefined)
    return salvaged ?? reply
  }

  async #find(reply: Reply): Promise<Reply | undefined> {
    const { thinking, text } = apart(reply)
    const source = text.trim() === '' ? 'thinking' : 'text'
    const found = source === 'text' ? await findCall(text) : await findThoughtCall(thinking)
    if (!found || this.#isRepeated(found)) return undefined
    const call = this.#setup.original({ id: undefined, name: found.name, args: found.args })
    if (!(await this.#mayRun(call))) return undefined
    const { executor, logger } = this.#setup
    executor.metrics.of(call.name).salvaged++
    const fields = {
      tool: safeText(call.name),
      format: found.format,
      from: source,
      args: safeValue(call.args),
    }
    logger.info(fields, 'Recovered a call from the model text')
    const lead = source === 'text' ? found.lead : ''
    return { ...reply, text: lead, content: contentWith(reply.content, lead), calls: [call] }
  }

  /** Whether the text already appeared in the conversation: a user's words echoed, a document quoted. */
  #isRepeated({ text }: FoundCall): boolean {
    return squeezed(this.#setup.heard()).includes(squeezed(text))
  }

  async #mayRun(call: RequestedCall): Promise<boolean> {
    const { executor, tools: among, logger, ...caller } = this.#setup
    const { tool, failure, verdict } = await executor.dryRun(call, { ...caller, among, repair: true })
    if (!tool || failure || !knowsAll(tool, call)) return false
    const isHarmless = tool.readOnly === true && verdict !== 'deny'
    if (isHarmless || verdict === 'allow') return true
    const why = verdict ?? 'no policy allows it, and it is not read-only'
    logger.warn({ tool: safeText(tool.name), why }, 'Ignored a call in the model text')
    return false
  }
}

/** Separates the model's thinking from its text. */
function apart({ thinking, text }: Reply): { thinking: string; text: string } {
  const start = text.trimStart()
  if (!start.startsWith(THINK)) return { thinking, text }
  const end = start.indexOf(THOUGHT)
  if (end < 0) return { thinking: start.slice(THINK.length), text: '' }
  return { thinking: start.slice(THINK.length, end), text: start.slice(end + THOUGHT.length) }
}

/** Whether the tool knows every argument and each has a real value: not a definition, not a template. */
function knowsAll(tool: Tool, { args }: RequestedCall): boolean {
  if (typeof args === 'string') return false
  const { byFold, isNameMap } = namingOf(jsonSchemaOf(tool))
  return Object.entries(args).every(
    ([name, value]) => (isNameMap || byFold.has(foldedName(name))) && !isPlaceholder(name, value),
  )
}

function squeezed(text: string): string {
  return text.replace(/\s/g, '')
}

/** The content without the call: the words before it, and blocks that are not text. */
function contentWith(content: Reply['content'], lead: string): Reply['content'] {
  if (typeof content === 'string') return lead
  const others = content.filter(block => (block as { type?: unknown }).type !== 'text')
  return lead === '' ? others : [...others, { type: 'text', text: lead }]
}
