/** How models on Ollama run. */
export interface OllamaSettings {
  /** Whether a model thinks before it answers; by the name of the model (`*` for any characters), or for all. */
  think?: boolean | Readonly<Record<string, boolean>> | undefined
  /** How long a model stays in memory after its last answer: `30m`, or seconds; -1 for ever. */
  keepAlive?: string | number | undefined
  /** The largest context that is asked for, in tokens. */
  maxContext?: number | undefined
}
