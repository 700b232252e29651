import { isDeepStrictEqual } from 'node:util'
import { secretsIn } from '../logging/config-secrets.ts'
import { removeFromLogs, treatAsSecret } from '../logging/redact.ts'
import { describeThrown } from '../util/quietly.ts'
import { changesBetween, changesText, type ReloadChanges } from './changes.ts'
import { ConfigError, type ToolpostConfig } from './config.ts'
import { type Following, followFiles } from './follow-files.ts'
import type { Part, ProjectOptions } from './project-options.ts'
import type { ResolvedConfig } from './resolve.ts'

interface ConfigurationOptions extends Pick<ProjectOptions, 'read' | 'answer'> {
  /** Never throws. */
  say(text: string): void
  /** Nothing is applied once this is aborted. */
  closing: AbortSignal
}

/** The current configuration of a project, and how it is reloaded. */
export class Configuration implements Part {
  readonly #options: ConfigurationOptions
  #current: ResolvedConfig
  #reloading: Promise<unknown> = Promise.resolve()

  constructor(resolved: ResolvedConfig, options: ConfigurationOptions) {
    this.#current = resolved
    this.#options = options
    noteSecrets(resolved.config)
  }

  get current(): ResolvedConfig {
    return this.#current
  }

  get config(): ToolpostConfig {
    return this.#current.config
  }

  /** Asks for the inputs of the servers, one after the other, until all are answered or one is not. */
  async answerInputs(): Promise<void> {
    const { answer, read } = this.#options
    for (let [input] = this.#current.inputs; input && (await answer?.(input)); [input] = this.#current.inputs)
      try {
        this.#current = await read()
      } catch (error) {
        // The file changed while the person was typing.
        if (error instanceof ConfigError) return
        throw error
      }
  }

  /** Reads the files again and applies them to `parts`, in order. If any part objects, nothing changes. One at a time. */
  reload(parts: Iterable<Part>, { quietly = false } = {}): Promise<ReloadChanges> {
    const reloaded = this.#reloading.then(() => this.#reload([...parts], quietly))
    this.#reloading = reloaded.catch(() => {})
    return reloaded
  }

  async #reload(parts: readonly Part[], quietly: boolean): Promise<ReloadChanges> {
    const { read, say, closing } = this.#options
    const after = await read()
    const before = this.#current
    const replacements = parts.map(part => part.prepare?.(after, before))
    if (closing.aborted) return changesBetween(before, before)
    this.#current = after
    noteSecrets(after.config)
    for (const replace of replacements) replace?.()
    const changes = changesBetween(before, after)
    for (const notice of after.notices) if (!before.notices.includes(notice)) say(notice)
    const isSame =
      isDeepStrictEqual(before.config, after.config) &&
      isDeepStrictEqual(before.brokenServers, after.brokenServers)
    if (!quietly || !isSame) say(changesText(changes, before, after))
    for (const part of parts) {
      try {
        await part.apply?.(after, before)
      } catch (error) {
        say(`⚠️ The new configuration is only partly applied: ${describeThrown(error)}`)
      }
    }
    return changes
  }

  /** Calls `reload` when the files change. */
  follow(reload: (options: { quietly: boolean }) => Promise<unknown>): Following {
    return followFiles({ files: () => this.#current.files, reload, say: this.#options.say })
  }

  /** Resolves when no reload is in progress. */
  async close(): Promise<void> {
    await this.#reloading
  }
}

/** Registers the values in a configuration that must never be logged. */
function noteSecrets(config: ToolpostConfig): void {
  treatAsSecret(config.log?.secrets ?? [])
  removeFromLogs(secretsIn(config))
}
