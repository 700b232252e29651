import { SystemDatabase } from '@dbos-inc/dbos-sdk/internal/system_database'

/*
 * Which waiting runs this process takes, and who is notified when one ends. DBOS takes from every partition of a queue; here
 * a partition is a tool, and only workers that have the tool may take its runs. DBOS polls; here a poll costs nothing unless
 * something was announced. Implemented by wrapping five methods of DBOS's `SystemDatabase`.
 */
export interface Claims {
  /** Whether something may be waiting in `queue`; called on every poll. */
  mayTake(queue: string): boolean
  /** Of `tools`, which have waiting runs, those whose runs this process takes. */
  takeable(queue: string, tools: readonly string[]): string[]
  /** How many more runs this process can take now. */
  room(): number
  /** This process took these runs. */
  taken(ids: readonly string[]): void
  /** The end of this run was journalled here. */
  ended(id: string): void
}

let claims: Claims | undefined

export function takeOver(by: Claims | undefined): void {
  claims = by
}

type Method = (this: SystemDatabase, ...args: never[]) => Promise<unknown>
type Name =
  | 'getQueuePartitions'
  | 'findAndMarkStartableWorkflows'
  | 'recordWorkflowOutput'
  | 'recordWorkflowError'
  | 'deadLetterWorkflows'

/** Wraps a method in `around`. */
function wrap<M extends Name>(
  name: M,
  around: (original: OmitThisParameter<SystemDatabase[M]>) => OmitThisParameter<SystemDatabase[M]>,
): void {
  const methods = SystemDatabase.prototype as unknown as Record<string, Method>
  const original = methods[name]
  if (!original) throw new Error(`This version of DBOS has no ${name}; toolpost-durable needs 5.3`)
  methods[name] = function (this: SystemDatabase, ...args: never[]) {
    const bound = original.bind(this) as unknown as OmitThisParameter<SystemDatabase[M]>
    return (around(bound) as unknown as (...args: never[]) => Promise<unknown>)(...args)
  }
}

wrap('getQueuePartitions', original => async queue => {
  if (!claims?.mayTake(queue)) return []
  return claims.takeable(queue, await original(queue))
})

wrap('findAndMarkStartableWorkflows', original => async (queue, executor, version, tool, ...rest) => {
  const room = claims?.room() ?? 0
  if (room <= 0) return []
  // Apply this worker's limit over all queues instead of the queue's.
  const [, running, owner] = rest
  const limited = Object.assign(Object.create(Object.getPrototypeOf(queue)), queue, {
    workerConcurrency: room,
  })
  const ids = await original(limited, executor, version, tool, 0, running, owner)
  claims?.taken(ids)
  return ids
})

wrap(
  'recordWorkflowOutput',
  original =>
    async (id, ...rest) =>
      told(id, await original(id, ...rest)),
)
wrap(
  'recordWorkflowError',
  original =>
    async (id, ...rest) =>
      told(id, await original(id, ...rest)),
)
wrap('deadLetterWorkflows', original => async (ids, ...rest) => {
  await original(ids, ...rest)
  for (const id of ids) told(id, true)
})

function told(id: string, isRecorded: boolean): boolean {
  if (isRecorded) claims?.ended(id)
  return isRecorded
}
