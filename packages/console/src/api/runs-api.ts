import type { Run } from 'toolpost/project'
import { has, isResult, listOf } from './checked.ts'
import { ApiError, queryOf, request, requestJson } from './http.ts'

/** Which runs to list, newest first. */
export interface RunQuery {
  state?: string | undefined
  tool?: string | undefined
  /** Only runs older than this one, for the next page. */
  before?: string | undefined
  limit: number
}

/** `undefined` if the gateway has no durable runs. */
export async function listRuns(asked: RunQuery): Promise<Run[] | undefined> {
  try {
    return runsIn((await requestJson<{ runs: unknown }>(`/api/runs?${queryOf(asked)}`)).runs)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

export async function getRun(id: string): Promise<Run | undefined> {
  const [run] = runsIn([await requestJson<unknown>(pathOf(id))])
  return run
}

export async function cancelRun(id: string): Promise<void> {
  await request(pathOf(id), { method: 'DELETE' })
}

/** Returns the id of the new run. */
export async function runAgain(id: string): Promise<string | undefined> {
  const response = await request(`${pathOf(id)}/again`, { method: 'POST' })
  const place = response.headers.get('location') ?? ''
  const last = place.slice(place.lastIndexOf('/') + 1)
  return last === '' ? undefined : decodeURIComponent(last)
}

function pathOf(id: string): string {
  return `/api/runs/${encodeURIComponent(id)}`
}

export function runsIn(value: unknown): Run[] {
  const needed = { id: 'string', tool: 'string', state: 'string', created_at: 'string' }
  return listOf(value)
    .filter(one => has(one, needed))
    .map(({ result, steps, attempts, ...run }) => ({
      ...run,
      attempts: typeof attempts === 'number' ? attempts : 0,
      steps: listOf(steps).filter(step => has(step, { name: 'string', at: 'string' })),
      ...(isResult(result) && { result }),
    })) as unknown as Run[]
}
