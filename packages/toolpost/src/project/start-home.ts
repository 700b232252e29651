import type { ExampleHome } from './example-home.ts'

interface StartHomeOptions {
  /** The program of the home, if it is not the usual one. */
  program: string | undefined
  signal: AbortSignal
  onProblem(problem: string): void
  /** The home is a separate package, and is not installed. */
  onMissing(): void
}

/** Starts the home of the built-in example. If that fails, all other tools still work. */
export async function startHome({
  program,
  signal,
  onProblem,
  onMissing,
}: StartHomeOptions): Promise<ExampleHome | undefined> {
  try {
    const { startExampleHome } = await import('./example-home.ts')
    const home = await startExampleHome({ program, signal })
    if (!home) onMissing()
    return home
  } catch (error) {
    if (!signal.aborted) onProblem((error as Error).message)
    return undefined
  }
}
