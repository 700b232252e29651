import { type DurableOptions, fitsGlob } from 'toolpost/project'

type Limits = NonNullable<DurableOptions['limits']>
export type Limit = Limits[string]

/** The queue of all tools of a pool without their own limit. */
export function poolQueue(pool: string): string {
  return `toolpost:${encodeURIComponent(pool)}`
}

/** The pool whose workers take from a queue. */
export function poolOf(queue: string): string {
  return decodeURIComponent(queue.split(':')[1] ?? '')
}

/** Tools with equal limits share a queue, one partition each: few queues are polled, however many tools there are. */
export function queueFor(pool: string, limit: Limit | undefined): string {
  if (!limit) return poolQueue(pool)
  return `${poolQueue(pool)}:${limit.concurrency ?? '-'}:${limit.perMinute ?? '-'}`
}

/** The limit of the first matching pattern; `undefined` if none matches, or it limits nothing. */
export function limitOf(tool: string, limits: Limits | undefined): Limit | undefined {
  const found = Object.entries(limits ?? {}).find(([pattern]) => fitsGlob(tool, pattern))?.[1]
  return found?.concurrency === undefined && found?.perMinute === undefined ? undefined : found
}
