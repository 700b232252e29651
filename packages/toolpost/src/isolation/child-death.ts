/** How a child process ended, as Node reports it: exactly one of the two is set. */
export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

/** The error for a call whose child ended before answering. */
export function deathError(name: string, heapMb: number, ending: Ending): Error {
  if (isOutOfMemory(ending)) return new Error(`${name} ran out of memory (limit ${heapMb} MB)`)
  const how = ending.signal === null ? `exited with code ${ending.code}` : `was killed by ${ending.signal}`
  return new Error(`${name} ${how} before it answered`)
}

/** Abort and trap, as exit codes of shells and of Windows. */
const CODES = [134, 133, 0xc0000409, 0x80000003]

/** V8 aborts when the heap is full, and traps on an object larger than it could ever allocate. */
function isOutOfMemory({ code, signal }: Ending): boolean {
  return signal === 'SIGABRT' || signal === 'SIGTRAP' || (code !== null && CODES.includes(code))
}

/** The error for an aborted call; the executor has already answered its caller. */
export function abortError(name: string): Error {
  return Object.assign(new Error(`${name} was stopped`), { name: 'AbortError' })
}
