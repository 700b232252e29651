/**
 * Runs an action once at a time: however often it is requested meanwhile, it runs just once more afterwards. Failures
 * are ignored until the next run.
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
