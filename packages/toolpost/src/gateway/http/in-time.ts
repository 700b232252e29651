import { MAX_TIMER_MS } from '../../runtime/clock.ts'

/**
 * The outcome of `work`, or `undefined` if it takes longer than `ms`. From then on `isWanted` returns `false`, and the
 * work should do no more than it has to.
 */
export async function inTime<T>(
  ms: number,
  work: (isWanted: () => boolean) => Promise<T>,
): Promise<T | undefined> {
  let isWanted = true
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(
      () => {
        isWanted = false
        resolve(undefined)
      },
      Math.min(ms, MAX_TIMER_MS),
    )
  })
  try {
    return await Promise.race([work(() => isWanted), late])
  } finally {
    clearTimeout(timer)
  }
}
