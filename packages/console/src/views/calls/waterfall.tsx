import type { CallRecord } from 'toolpost/gateway'
import { isRecord } from '../../api/http.ts'
import { durationText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'

interface Stage {
  name: string
  startMs: number
  durationMs: number
}

/** Where a call spent its time: stages, interceptors, waits and the tool itself, one bar each. */
export function Waterfall({ call }: { call: CallRecord }) {
  const stages = stagesOf(call)
  const total = Math.max(
    call.durationMs ?? 0,
    ...stages.map(stage => stage.startMs + stage.durationMs),
    0.001,
  )
  if (stages.length === 0) return <p className="text-muted">No stages were recorded for this call.</p>
  return (
    <ol className="flex flex-col gap-1.5" aria-label="Stages">
      {stages.map(({ name, startMs, durationMs }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stage may occur twice
        <li key={at} className="grid grid-cols-[7rem_minmax(0,1fr)_4.5rem] items-center gap-3">
          <span className="truncate" title={oneLine(name, 200)}>
            {oneLine(`${inWords(name)}${isWait(name, durationMs) ? ' (wait)' : ''}`, 60)}
          </span>
          <span className="relative h-3 rounded bg-raised" aria-hidden="true">
            <span
              className={`absolute inset-y-0 rounded ${isWait(name, durationMs) ? 'bg-warn' : 'bg-accent'}`}
              style={{
                left: `${Math.min(99, (100 * startMs) / total)}%`,
                width: `${Math.max(0.8, Math.min(100, (100 * durationMs) / total))}%`,
              }}
            />
          </span>
          <span className="text-right text-xs text-muted tabular-nums">{durationText(durationMs)}</span>
        </li>
      ))}
      <li className="grid grid-cols-[7rem_minmax(0,1fr)_4.5rem] gap-3 border-t border-line pt-1.5 font-medium">
        <span>Total</span>
        <span />
        <span className="text-right text-xs tabular-nums">{durationText(total)}</span>
      </li>
    </ol>
  )
}

/** Interceptors have the names of functions: `longResults`. */
function inWords(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
}

const STAGES = ['find', 'plan', 'fit', 'invoke', 'finish']

/** An interceptor that takes long waits: for a person, or for a free slot. */
function isWait(name: string, durationMs: number): boolean {
  return !STAGES.includes(name) && durationMs >= 1
}

/** As recorded; older records only have the ends of the first stages and the wait. */
function stagesOf(call: CallRecord): Stage[] {
  const { stages, durationMs, waitedMs = 0 } = call as Omit<CallRecord, 'stages'> & { stages?: unknown }
  if (Array.isArray(stages))
    return stages.filter(isRecord).map(({ name, start_ms, duration_ms }) => ({
      name: String(name),
      startMs: Number(start_ms) || 0,
      durationMs: Number(duration_ms) || 0,
    }))
  if (durationMs === undefined || call.result === undefined) return []
  const { foundMs, fittedMs } = isRecord(stages) ? stages : {}
  const found = Number(foundMs) || 0
  const fitted = Math.max(found, Number(fittedMs) || 0)
  const invoked = Math.min(durationMs, fitted + waitedMs)
  return [
    ...(isRecord(stages)
      ? [
          { name: 'find', startMs: 0, durationMs: found },
          { name: 'fit', startMs: found, durationMs: fitted - found },
        ]
      : []),
    ...(waitedMs >= 1 ? [{ name: 'interceptors', startMs: fitted, durationMs: waitedMs }] : []),
    { name: 'invoke', startMs: invoked, durationMs: durationMs - invoked },
  ]
}
