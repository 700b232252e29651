import type { ResolvedConfig } from './resolve.ts'

/** A running part of a project: it follows the configuration, and closes with the project. */
export interface Part {
  /**
   * Builds what a new configuration needs here; returns a function that puts it in the place of the old, which must not fail.
   * Throws a ConfigError if it cannot be built: then nothing changes anywhere.
   */
  prepare?(after: ResolvedConfig, before: ResolvedConfig): (() => void) | undefined
  /** Brings what was started in line with the new configuration, once that holds. Leaves alone what has not changed. */
  apply?(after: ResolvedConfig, before: ResolvedConfig): void | Promise<void>
  /** Ends what was started, including what is still starting. */
  close?(options?: CloseOptions): void | Promise<void>
}

export interface CloseOptions {
  /** How long work in progress may take to finish. */
  drainMs?: number
}
