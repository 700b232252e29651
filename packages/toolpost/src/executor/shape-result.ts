import type { ToolResult, ToolSuccess } from '../call/tool-result.ts'
import { isRecord } from '../runtime/guards.ts'
import { ToolOutput } from '../tools/tool-output.ts'
import type { Attempt } from './attempt.ts'
import { classifyError } from './classify-error.ts'
import { contentText } from './content-text.ts'
import { cancelled, type Failure, timedOut } from './failure.ts'
import type { Plan } from './plan.ts'
import type { Ending } from './running-call.ts'

/** Stage 6: what the end of a call means, as the result that everybody reads. May throw, if the tool's value does. */
export function shapeResult(ending: Ending, plan: Plan, attempt: Attempt, elapsedMs: number): ToolResult {
  if (ending.kind !== 'value') return shapeFailure(failureOf(ending, plan, attempt), attempt, elapsedMs)
  const result: ToolSuccess = {
    success: true,
    result: ending.value,
    tool_name: attempt.name,
    execution_time_ms: elapsedMs,
  }
  if (ending.value instanceof ToolOutput) takeApart(ending.value, result)
  else if (plan.hasContentBlocks) addText(result, ending.value)
  return result
}

function takeApart(output: ToolOutput, result: ToolSuccess): void {
  result.result = output.value
  addText(result, output.content)
  if (!isToldByText(output)) result.content = output.content
}

function addText(result: ToolSuccess, content: unknown): void {
  const text = contentText(content)
  if (text !== undefined) result.text = text
}

/** One plain text beside an object: `text` has it all. */
function isToldByText({ value, content }: ToolOutput): boolean {
  const [block, ...others] = content
  return isRecord(value) && others.length === 0 && block?.type === 'text' && Object.keys(block).length === 2
}

function failureOf(ending: Exclude<Ending, { kind: 'value' }>, plan: Plan, { name }: Attempt): Failure {
  switch (ending.kind) {
    case 'error':
      return classifyError(ending.error, plan.tool)
    case 'timeout':
      return timedOut(name, ending.afterMs)
    case 'cancelled':
      return cancelled(name)
  }
}

export function shapeFailure(failure: Failure, { name }: Attempt, elapsedMs: number): ToolResult {
  const { error, code, diagnosis } = failure
  return {
    success: false,
    error,
    code,
    tool_name: name,
    execution_time_ms: elapsedMs,
    ...(diagnosis && { diagnosis }),
  }
}
