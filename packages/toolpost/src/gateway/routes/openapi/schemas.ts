import { FAILURE_CODES } from '../../../call/failure-codes.ts'
import { RUN_STATES } from '../../../project/durable.ts'
import { NAMES, record, ref } from './forms.ts'

const RESULT =
  'success:boolean result? text? error? code? tool_name execution_time_ms:number waited_ms?:number retry_after_ms?:number run_id? diagnosis?:object handle?'
const CALL =
  'serial id? tool source origin caller? args? startedAt:number durationMs?:number waitedMs?:number slow:boolean progress?:object stages?:object notes?:object traceUrl? result?'
const RUN =
  'id tool args? state attempts:integer created_at started_at? ended_at? pool? worker? caller? origin? key? steps:array progress?:object result?'
const TOOL =
  'name title? description source signature schema:object outputSchema?:object readOnly?:boolean idempotent?:boolean destructive?:boolean timeoutMs?:number sentences?'

/** api-types.ts, as JSON Schema. */
export const SCHEMAS = {
  Error: record('error'),
  Tool: record(TOOL, { sentences: NAMES }),
  ToolResult: record(RESULT, { result: {}, code: { enum: FAILURE_CODES } }),
  Call: record(CALL, { args: {}, result: ref('ToolResult') }),
  Run: record(RUN, {
    args: {},
    state: { enum: RUN_STATES },
    steps: { type: 'array', items: record('name at worker?') },
    result: ref('ToolResult'),
  }),
  Model: record('name why voice:boolean'),
  Conversation: record('id name createdAt:number updatedAt:number turns:integer'),
  Transcription: record('text durationMs:number'),
}
