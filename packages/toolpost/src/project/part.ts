import type { Description } from './open-project.ts'

/** A part of a project: it follows the configuration, and closes with the project. */
export interface Part {
  /** Throws a ConfigError if a configuration cannot be applied here; it is then applied nowhere. */
  check?(after: Description): void
  /** Brings what was started in line with the new configuration. Leaves alone what has not changed. */
  apply?(after: Description, before: Description): void | Promise<void>
  /** Ends what was started, including what is still starting. */
  close?(options?: CloseOptions): void | Promise<void>
}

export interface CloseOptions {
  /** How long work in progress may take to finish. */
  drainMs?: number
}
