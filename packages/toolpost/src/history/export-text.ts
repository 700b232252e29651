import { COLUMNS, type StoredCall } from './stored-call.ts'

export const EXPORT_FORMATS = ['jsonl', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Calls as text: one JSON object per line, or CSV with a header line. */
export function exportText(calls: readonly StoredCall[], format: ExportFormat, isFirst: boolean): string {
  if (format === 'jsonl') return calls.map(call => `${JSON.stringify(call)}\n`).join('')
  const head = isFirst ? `${COLUMNS.join()}\r\n` : ''
  return head + calls.map(call => `${csvRow(call)}\r\n`).join('')
}

function csvRow(call: StoredCall): string {
  const { result } = call
  const fields: Record<(typeof COLUMNS)[number], unknown> = {
    serial: call.serial,
    time: new Date(call.startedAt).toISOString(),
    tool: call.tool,
    server: call.source,
    origin: call.origin,
    caller: call.caller,
    call_id: call.id,
    args: call.args,
    result: result?.success ? result.result : undefined,
    error: result?.success === false ? result.error : undefined,
    code: result?.success === false ? result.code : undefined,
    success: result?.success,
    duration_ms: call.durationMs,
    waited_ms: result?.waited_ms,
    repairs: result?.repairs,
    rule: call.rule,
    approval: call.approval,
    trace_id: call.traceId,
    found_ms: call.stages?.foundMs,
    fitted_ms: call.stages?.fittedMs,
  }
  return COLUMNS.map(column => csvField(fields[column])).join()
}

/** A spreadsheet treats a text that begins like this as a formula and runs it. */
const FORMULA = /^\s*[=+\-@\t\r|%]/

function csvField(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
