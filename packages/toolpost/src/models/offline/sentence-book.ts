import type { Logger } from '../../logging/logger.ts'
import { safeText } from '../../logging/safe-value.ts'
import { jsonSchemaOf } from '../../schema/json-schema.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolManager } from '../../tools/tool-manager.ts'
import type { Home } from './home/home.ts'
import { LOCAL_SENTENCES } from './local-sentences.ts'
import { prepareSentence, type Sentence } from './match.ts'
import { hasAllNames, problemWith, readSettings, type SpokenWords } from './spoken-words.ts'
import { type SentencesByMeaning, ZWAVE } from './zwave.ts'

export interface BookOptions {
  manager?: ToolManager | undefined
  home?: Home | undefined
  spoken?: SpokenWords | undefined
}

/** The sentences of tools: their own, and built-in ones for well-known tools. */
export class SentenceBook {
  readonly #prepared = new WeakMap<Tool, readonly Sentence[]>()
  readonly #atHome = new WeakMap<Tool, readonly Sentence[]>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** The sentences of a tool. A malformed one is skipped with a warning. */
  of(tool: Tool, { manager, home, spoken }: BookOptions = {}): readonly Sentence[] {
    const plain = this.#once(this.#prepared, tool, () => readSentences(tool, manager, spoken))
    if (!home) return plain
    const more = this.#once(this.#atHome, tool, () => readHomeSentences(tool, manager, spoken))
    return more.length > 0 ? [...more, ...plain] : plain
  }

  #once(
    known: WeakMap<Tool, readonly Sentence[]>,
    tool: Tool,
    read: () => ReadSentences,
  ): readonly Sentence[] {
    const before = known.get(tool)
    if (before) return before
    const { sentences, problems } = read()
    for (const reason of problems)
      this.#logger.warn({ tool: safeText(tool.name), reason: `The ${reason}` }, 'Skipped a sentence')
    known.set(tool, sentences)
    return sentences
  }
}

interface ReadSentences {
  sentences: Sentence[]
  problems: string[]
}

/** The sentences of a tool, and what is wrong with the malformed ones. */
export function readSentences(
  tool: Tool,
  manager?: ToolManager,
  spoken: SpokenWords = readSettings(),
): ReadSentences {
  const templates = [...(tool.sentences ?? []), ...(known(ZWAVE.sentences, tool, manager) ?? [])]
  const local = manager?.originOf(tool) ? undefined : known(LOCAL_SENTENCES, tool, manager)
  return prepareAll([...byMeaning(local), ...templates.map(template => ({ template }))], tool, spoken)
}

type Written = Pick<Sentence, 'template' | 'means' | 'isTyped'>

function byMeaning(sentences: SentencesByMeaning = {}): Written[] {
  return Object.entries(sentences).flatMap(([key, list]) => {
    const [means, how] = key.split(' ')
    return list.map(template => ({
      template,
      means: means === 'call' ? undefined : means,
      isTyped: how === 'typed',
    }))
  })
}

/** The sentences that need to know the home. */
function readHomeSentences(
  tool: Tool,
  manager: ToolManager | undefined,
  spoken: SpokenWords = readSettings(),
): ReadSentences {
  return prepareAll(byMeaning(known(ZWAVE.homeSentences, tool, manager)), tool, spoken)
}

function prepareAll(templates: readonly Written[], tool: Tool, spoken: SpokenWords): ReadSentences {
  const sentences: Sentence[] = []
  const problems: string[] = []
  for (const { template, means, isTyped } of templates) {
    try {
      const sentence = prepareSentence(template, jsonSchemaOf(tool), { means, isTyped })
      const problem = hasAllNames(template, spoken) ? undefined : problemWith(sentence.nodes, spoken)
      if (problem) problems.push(`sentence '${safeText(template)}' ${problem}`)
      else sentences.push(sentence)
    } catch (error) {
      problems.push(`sentence '${safeText(String(template))}' ${(error as Error).message}`)
    }
  }
  return { sentences, problems }
}

function known<T>(
  sentences: Readonly<Record<string, T>>,
  tool: Tool,
  manager: ToolManager | undefined,
): T | undefined {
  const name = manager?.originOf(tool)?.name ?? tool.name
  return Object.hasOwn(sentences, name) ? sentences[name] : undefined
}
