import type { ToolpostConfig } from '../config/config.ts'
import { noteSecrets } from './assemble.ts'
import { changesBetween, newsOf, type ReloadChanges } from './changes.ts'
import { type Following, followFiles } from './follow-files.ts'
import { withAnswers } from './inputs.ts'
import type { Description } from './open-project.ts'
import type { Part } from './part.ts'
import type { ProjectOptions } from './project-options.ts'

interface ConfigurationOptions extends Pick<ProjectOptions, 'read' | 'answer'> {
  /** Never throws. */
  say(text: string): void
  /** Nothing is applied once this is aborted. */
  closing: AbortSignal
}

/** The current configuration of a project, and how it is reloaded. */
export class Configuration implements Part {
  readonly #options: ConfigurationOptions
  #current: Description
  #reloading: Promise<unknown> = Promise.resolve()

  constructor(description: Description, options: ConfigurationOptions) {
    this.#current = description
    this.#options = options
    noteSecrets(description.config)
  }

  get current(): Description {
    return this.#current
  }

  get config(): ToolpostConfig {
    return this.#current.config
  }

  /** Asks for the inputs of the servers, once. Without an answer, only the server that needs it fails. */
  async answerInputs(): Promise<void> {
    this.#current = await withAnswers(this.#current, this.#options)
  }

  /** Reads the files again and applies them to `parts`, in order. If any part objects, nothing changes. One at a time. */
  reload(parts: Iterable<Part>, { quietly = false } = {}): Promise<ReloadChanges> {
    const reloaded = this.#reloading.then(() => this.#reload(parts, quietly))
    this.#reloading = reloaded.catch(() => {})
    return reloaded
  }

  async #reload(parts: Iterable<Part>, quietly: boolean): Promise<ReloadChanges> {
    const { read, say, closing } = this.#options
    const after = await read()
    const before = this.#current
    for (const part of parts) part.check?.(after)
    if (closing.aborted) return changesBetween(before, before)
    this.#current = after
    noteSecrets(after.config)
    for (const line of newsOf(before, after, quietly)) say(line)
    for (const part of parts) await part.apply?.(after, before)
    return changesBetween(before, after)
  }

  /** Calls `reload` when the files change. */
  follow(reload: (options: { quietly: boolean }) => Promise<unknown>): Following {
    return followFiles({ described: () => this.#current, reload, say: this.#options.say })
  }

  /** Resolves when no reload is in progress. */
  async close(): Promise<void> {
    await this.#reloading
  }
}
