import type { ExampleHome } from './example-home.ts'

interface StartHomeOptions {
  /** The program of the home, if it is not the usual one. */
  program: string | undefined
  signal: AbortSignal
  onProblem(problem: string): void
  /** The home is a package of its own, which is not installed. */
  onMissing(): void
}

/** Starts the home of the built-in example. One that cannot be started takes no other tools with it. */
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
