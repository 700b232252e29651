import type { Description } from './open-project.ts'

/** A part of a project: it follows the configuration, and ends with the project. */
export interface Part {
  /** Throws a ConfigError if a configuration cannot be applied here; then it is applied nowhere. */
  check?(after: Description): void
  /** Brings what was started in line with the configuration as it is now. Touches nothing that has not changed. */
  apply?(after: Description, before: Description): void | Promise<void>
  /** Ends what was started, also what is still starting. */
  close?(options?: CloseOptions): void | Promise<void>
}

export interface CloseOptions {
  /** How long what is under way may take to end. */
  drainMs?: number
}
