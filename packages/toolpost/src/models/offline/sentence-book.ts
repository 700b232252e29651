import { ZWAVE_SENTENCES } from '../../known-servers/zwave.ts'
import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import { matchSentence, prepareSentence, type Sentence, type SentenceMatch } from './match.ts'
import type { Request } from './slots.ts'
import { requestWords, withoutNow } from './words.ts'

/** A request that a tool can fulfil. */
export interface ToolMatch extends SentenceMatch {
  tool: Tool
  template: string
}

/** Longer requests are no commands; a model may make something of them. */
const MAX_REQUEST_CHARS = 500

/** The sentences of tools: their own, and those that are ready for well-known ones. */
export class SentenceBook {
  readonly #prepared = new WeakMap<Tool, readonly Sentence[]>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** The tool, and the arguments, that a request means best. Never throws. */
  find(text: string, tools: readonly Tool[], manager?: ToolManager): ToolMatch | undefined {
    const request = requestOf(text)
    if (!request) return undefined
    const hurried = { text, words: withoutNow(request.words) }
    return this.#best(request, tools, manager) ?? this.#best(hurried, tools, manager)
  }

  #best(request: Request, tools: readonly Tool[], manager?: ToolManager): ToolMatch | undefined {
    let best: ToolMatch | undefined
    for (const tool of tools) {
      for (const sentence of this.of(tool, manager)) {
        const match = matchSentence(sentence, request)
        if (match && (!best || match.score > best.score))
          best = { ...match, tool, template: sentence.template }
      }
    }
    return best
  }

  /** The sentences of a tool. One that cannot be read is left out with a warning. */
  of(tool: Tool, manager?: ToolManager): readonly Sentence[] {
    const known = this.#prepared.get(tool)
    if (known) return known
    const { sentences, problems } = readSentences(tool, manager)
    for (const reason of problems)
      this.#logger.warn({ tool: safeText(tool.name), reason: `The ${reason}` }, 'Sentence left out')
    this.#prepared.set(tool, sentences)
    return sentences
  }
}

/** The sentences of a tool, and what is wrong with those that cannot be read. */
export function readSentences(
  tool: Tool,
  manager?: ToolManager,
): { sentences: Sentence[]; problems: string[] } {
  const sentences: Sentence[] = []
  const problems: string[] = []
  for (const template of templatesOf(tool, manager)) {
    try {
      sentences.push(prepareSentence(template, jsonSchemaOf(tool)))
    } catch (error) {
      problems.push(`sentence '${safeText(String(template))}' ${(error as Error).message}`)
    }
  }
  return { sentences, problems }
}

export function requestOf(text: string): Request | undefined {
  if (text.length > MAX_REQUEST_CHARS) return undefined
  return { text, words: requestWords(text) }
}

function templatesOf(tool: Tool, manager: ToolManager | undefined): readonly string[] {
  const name = manager?.originOf(tool)?.name ?? tool.name
  const ready = Object.hasOwn(ZWAVE_SENTENCES, name) ? (ZWAVE_SENTENCES[name] ?? []) : []
  return [...(tool.sentences ?? []), ...ready]
}
