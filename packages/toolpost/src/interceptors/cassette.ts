import type { ToolResult } from '../call/tool-result.ts'
import type { Interceptor } from '../executor/chain.ts'
import { toolError } from '../executor/failure.ts'
import { failureResult } from '../executor/result.ts'
import { fingerprint } from './canonical.ts'
import type { Cassette, RecordedCall } from './cassette-file.ts'
import { cassetteWriter, nearest, readCassette, recordable } from './cassette-file.ts'

/** They say nothing about the tool: in a replay, the executor answers such calls itself. */
const NOT_RECORDED = ['invalid_arguments', 'invalid_schema', 'cancelled']

/**
 * Appends every call and its result to a cassette, without secrets. Throws a CassetteError if the file cannot be written; if
 * that happens later, the call is not affected.
 */
export function record(file: string): Interceptor {
  const write = cassetteWriter(file)
  return async function record(call, next) {
    const result = await next()
    if (call.dryRun || (!result.success && NOT_RECORDED.includes(result.code))) return result
    try {
      const { name: tool, args, given } = call
      write({ type: 'call', tool, args, ...(keyOf(args) !== keyOf(given) && { given }), result })
    } catch (error) {
      call.warn(`The call could not be recorded in ${file}`, error)
    }
    return result
  }
}

export interface ReplayOptions {
  /** What happens to a call that was not recorded: it fails (the default), or its tool runs. */
  onMiss?: 'fail' | 'run' | undefined
  /** Receives what could not be read of the cassette; a warning of the process if left out. */
  onProblem?: ((problem: string) => void) | undefined
}

/**
 * Answers calls from a cassette, without their tools. Calls with the same tool and arguments get the recorded results in
 * order. Throws a CassetteError if the file cannot be read.
 */
export function replay(file: string, options: ReplayOptions = {}): Interceptor {
  const { onMiss = 'fail', onProblem = problem => process.emitWarning(problem) } = options
  const cassette = readCassette(file)
  if (cassette.problem !== undefined) onProblem(cassette.problem)
  const known = cassette.calls.map(recorded => {
    const { args, given } = recorded
    const givenKey = given === undefined ? undefined : keyOf(given)
    return { recorded, key: keyOf(args), givenKey, isUsed: false }
  })
  return async function replay(call, next) {
    const { name, args, given, failure } = call
    if (call.dryRun || (failure && failure.code !== 'unknown_tool')) return next()
    const [key, givenKey] = [keyOf(args), keyOf(given)]
    const wanted = known.filter(
      one => one.recorded.tool === name && (one.key === key || one.givenKey === givenKey),
    )
    const found = wanted.find(one => !one.isUsed)
    if (found) {
      found.isUsed = true
      return lasting(found.recorded.result)
    }
    if (onMiss === 'run') return next()
    return failureResult(toolError(missText(cassette, { name, args, count: wanted.length })), call)
  }
}

function missText(
  { file, calls, problem }: Cassette,
  { name, args, count }: { name: string; args: unknown; count: number },
): string {
  const wanted = callText({ tool: name, args })
  const more = problem === undefined ? '' : ` (${problem})`
  if (count > 0) return `${file} has ${count} of ${wanted}, and all of them were replayed${more}`
  const same = calls.filter(({ tool }) => tool === name)
  const near = nearest(same.length > 0 ? same : calls, wanted, callText)
  const hint = near ? `the nearest is ${callText(near)} in line ${near.line}` : 'it has no calls'
  return `${file} has no recorded call ${wanted}; ${hint}${more}`
}

function callText({ tool, args }: Pick<RecordedCall, 'tool' | 'args'>): string {
  const text = JSON.stringify(recordable(args)) ?? ''
  return `${tool}(${text.length > 300 ? `${text.slice(0, 300)}…` : text})`
}

/** Equal for equal arguments, whatever the order of their keys; secrets look alike. */
function keyOf(args: unknown): string {
  return fingerprint(recordable(args ?? {}))
}

/** Without what held for the recorded call only. */
function lasting(result: ToolResult): ToolResult {
  const { handle, kept, tool_call_id, run_id, waited_ms, ...rest } = result as ToolResult & {
    handle?: string
    kept?: unknown
  }
  return rest as ToolResult
}
