import type { Tool } from 'toolpost'
import type { VoiceConfig } from 'toolpost/config'
import type { Project } from 'toolpost/project'
import { saidWords } from '../listening/said-words.ts'
import { wordsOf } from '../listening/sound-alikes.ts'

/** Names are short and few; a list of a thousand values is not a list of names. */
const MOST_VALUES = 50
const LONGEST_NAME = 40
const NAME = /^\p{Lu}[\p{L}\p{N}' .-]*$/u

/**
 * Names that may be said to a model: those from the configuration, the servers', and argument values that look like names,
 * unless the sentences already have them. Empty if no model answers.
 */
export function hotwordsOf(
  project: Pick<Project, 'model' | 'config' | 'executor'>,
  { hotwords = [] }: VoiceConfig,
): () => Promise<readonly string[]> {
  return async () => {
    const { client, sentences } = await project.model()
    if (client === sentences) return []
    const { config, executor } = project
    const known = sentences ? wordsOf(sentences.graph({ executor })) : new Set<string>()
    const found = [...serverNames(config.mcpServers), ...executor.tools.getTools().flatMap(valuesOf)]
    const isNew = (name: string) => !saidWords(name).every(word => known.has(word))
    return [...new Set([...hotwords, ...found.filter(isNew)])]
  }
}

function serverNames(servers: object = {}): string[] {
  return Object.keys(servers).map(name => name.replaceAll(/[_-]+/g, ' '))
}

/** Top-level arguments only; nested values are for programs. */
function valuesOf({ schema }: Pick<Tool, 'schema'>): string[] {
  const { properties } = schema as { properties?: unknown }
  if (typeof properties !== 'object' || properties === null) return []
  return Object.values(properties).flatMap(property => {
    const values: unknown = property?.enum
    if (!Array.isArray(values) || values.length > MOST_VALUES) return []
    return values.filter(
      value => typeof value === 'string' && value.length <= LONGEST_NAME && NAME.test(value),
    )
  })
}
