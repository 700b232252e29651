import { EXPORT_FORMATS } from '../../../history/export-text.ts'
import { DEFAULT_LIMIT, MAX_LIMIT, OUTCOMES, QUERY_NAMES } from '../../../history/query.ts'
import { RUN_STATES } from '../../../project/durable.ts'
import { DEFAULT_RUNS, MAX_KEY_LENGTH, MAX_RUNS } from '../../limits.ts'
import { ANYTHING, jsonContent, record, TEXT } from './forms.ts'

/* The inputs of operations: path, query, header or body. */

const QUERY_SCHEMAS: Partial<Record<(typeof QUERY_NAMES)[number], object>> = {
  outcome: { enum: OUTCOMES },
  limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  since: { ...TEXT, description: '1h, 2d, a date, or milliseconds since 1970' },
  until: { ...TEXT, description: '1h, 2d, a date, or milliseconds since 1970' },
  q: { ...TEXT, description: 'Words in tool, arguments, result or error' },
}
export const FORMAT = { name: 'format', in: 'query', schema: { enum: EXPORT_FORMATS, default: 'jsonl' } }
export const NAME = { name: 'name', in: 'path', required: true, schema: { type: 'string' } }
export const ID = { ...NAME, name: 'id' }
export const DECISION = { required: true, content: jsonContent(record('decision remember?')) }
export const ANSWER = {
  required: true,
  content: jsonContent(record('action content?', { content: ANYTHING })),
}
export const PREFER = {
  name: 'prefer',
  in: 'header',
  schema: { const: 'questions' },
  description: 'Tools may ask; without it, every question is declined',
}
export const PREFER_CALL = {
  ...PREFER,
  schema: TEXT,
  description:
    'questions: tools may ask. respond-async: 202 with the run and its Location; wait=10: not before 10 s',
}
export const KEY = {
  name: 'idempotency-key',
  in: 'header',
  schema: { ...TEXT, maxLength: MAX_KEY_LENGTH },
  description: 'Makes the call durable; repeating it with the same key returns the same run',
}
export const RUN_FILTER = [
  { name: 'state', in: 'query', schema: { enum: RUN_STATES } },
  { name: 'tool', in: 'query', schema: TEXT },
  {
    name: 'before',
    in: 'query',
    schema: TEXT,
    description: 'The id of a run: only those accepted before it',
  },
  {
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: MAX_RUNS, default: DEFAULT_RUNS },
  },
]
export const TIMEOUT = { name: 'x-timeout-ms', in: 'header', schema: { type: 'number' } }
export const SERIAL = { ...NAME, name: 'serial', schema: { type: 'string', format: 'uuid' } }
export const FILTER = QUERY_NAMES.map(name => ({ name, in: 'query', schema: QUERY_SCHEMAS[name] ?? TEXT }))
export const QUESTION = {
  required: true,
  content: jsonContent(record('message conversation? turn?:integer model?')),
}
export const RECORDING = { required: true, content: { 'audio/wav': {}, 'application/octet-stream': {} } }
