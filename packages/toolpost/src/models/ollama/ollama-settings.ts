/** How models on Ollama run. */
export interface OllamaSettings {
  /** Whether a model thinks before it answers: for all models, or by name (`*` for any characters). */
  think?: boolean | Readonly<Record<string, boolean>> | undefined
  /** How long a model stays in memory after its last answer: `30m`, or seconds; -1 for forever. */
  keepAlive?: string | number | undefined
  /** The largest context to request, in tokens. */
  maxContext?: number | undefined
}
