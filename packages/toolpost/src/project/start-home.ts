import type { ExampleHome } from './example-home.ts'

interface StartHomeOptions {
  /** The program of the home, if it is not the usual one. */
  program: string | undefined
  signal: AbortSignal
  onProblem(problem: string): void
}

/** Starts the home of the built-in example. One that cannot be started takes no other tools with it. */
export async function startHome({
  program,
  signal,
  onProblem,
}: StartHomeOptions): Promise<ExampleHome | undefined> {
  try {
    const { startExampleHome } = await import('./example-home.ts')
    return await startExampleHome({ program, signal })
  } catch (error) {
    if (!signal.aborted) onProblem((error as Error).message)
    return undefined
  }
}
