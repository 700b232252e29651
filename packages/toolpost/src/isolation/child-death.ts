/** How a child process ended: one of the two is set, as Node reports it. */
export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

/** Why a call has no answer: the child ended under it. */
export function deathError(name: string, heapMb: number, ending: Ending): Error {
  if (isOutOfMemory(ending)) return new Error(`${name} ran out of memory (limit ${heapMb} MB)`)
  const how = ending.signal === null ? `with exit code ${ending.code}` : `by signal ${ending.signal}`
  return new Error(`${name} ended ${how} before it answered`)
}

/** Of a process that aborts and one that traps: as shells count, and as Windows does. */
const CODES = [134, 133, 0xc0000409, 0x80000003]

/** V8 aborts when the heap is full, and traps when one object would be larger than it can ever be. */
function isOutOfMemory({ code, signal }: Ending): boolean {
  return signal === 'SIGABRT' || signal === 'SIGTRAP' || (code !== null && CODES.includes(code))
}

/** A call that was given up; the executor has answered its caller already. */
export function abortError(name: string): Error {
  return Object.assign(new Error(`${name} was stopped`), { name: 'AbortError' })
}
