import type { Run } from '../project/durable.ts'
import { RECORDED_BYTES } from './limits.ts'
import { recordValue } from './record-value.ts'

/** A run for lists and events: a large result is replaced by a note. `bytes` is its approximate size. */
export function shortRun(run: Run): { run: Run; bytes: number } {
  const { result, ...rest } = run
  const base = 500 + run.steps.length * 100 + recordValue(run.args, RECORDED_BYTES).bytes
  if (!result) return { run, bytes: base }
  if (!result.success) return { run, bytes: base + result.error.length }
  const { content: _, text: __, meta: ___, ...kept } = result
  const { value, bytes } = recordValue(result.result, RECORDED_BYTES)
  return { run: { ...rest, result: { ...kept, result: value } }, bytes: base + bytes }
}
