import type { StoredCall } from './stored-call.ts'

export const EXPORT_FORMATS = ['jsonl', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The columns of a CSV export, named as in the file. */
const COLUMNS: Record<string, (call: StoredCall) => unknown> = {
  serial: call => call.serial,
  time: call => new Date(call.startedAt).toISOString(),
  tool: call => call.tool,
  server: call => call.source,
  origin: call => call.origin,
  caller: call => call.caller,
  call_id: call => call.id,
  args: call => call.args,
  result: ({ result }) => (result.success ? result.result : undefined),
  error: ({ result }) => (result.success ? undefined : result.error),
  code: ({ result }) => (result.success ? undefined : result.code),
  success: call => call.result.success,
  duration_ms: call => call.durationMs,
  waited_ms: call => call.result.waited_ms,
  repairs: call => call.result.repairs,
  rule: call => call.rule,
  approval: call => call.approval,
  trace_id: call => call.traceId,
  found_ms: call => endOf(call, 'find'),
  fitted_ms: call => endOf(call, 'fit'),
}

/** Calls as text: one JSON object per line, or CSV with a header line. */
export function exportText(calls: readonly StoredCall[], format: ExportFormat, isFirst: boolean): string {
  if (format === 'jsonl') return calls.map(call => `${JSON.stringify(call)}\n`).join('')
  const rows = calls.map(call => Object.values(COLUMNS).map(read => csvField(read(call))))
  return [...(isFirst ? [Object.keys(COLUMNS)] : []), ...rows].map(row => `${row.join()}\r\n`).join('')
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

/** When a stage of the call ended. */
function endOf({ stages = [] }: StoredCall, name: string): number | undefined {
  const stage = stages.find(each => each.name === name)
  return stage && Math.round((stage.start_ms + stage.duration_ms) * 1_000) / 1_000
}
