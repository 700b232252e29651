/**
 * An action that runs once at a time: however often it is asked for meanwhile, it runs once more afterwards. A
 * failure is left to the next time.
 */
export function coalesced(action: () => Promise<unknown>): () => Promise<void> {
  let running: Promise<void> | undefined
  let isWanted = false
  const run = async () => {
    do {
      isWanted = false
      await action().catch(() => {})
    } while (isWanted)
    running = undefined
  }
  return () => {
    isWanted = true
    running ??= run()
    return running
  }
}
