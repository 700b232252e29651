import type { CallRecord } from 'toolpost/gateway'
import { durationText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'

/** Where a call spent its time: stages, interceptors, waits and the tool itself, one bar each. */
export function Waterfall({ call }: { call: CallRecord }) {
  const { stages = [], durationMs = 0 } = call
  const total = Math.max(durationMs, ...stages.map(stage => stage.start_ms + stage.duration_ms), 0.001)
  if (stages.length === 0) return <p className="text-muted">No stages were recorded for this call.</p>
  return (
    <ol className="flex flex-col gap-1.5" aria-label="Stages">
      {stages.map(({ name, start_ms: startMs, duration_ms: durationMs }, at) => (
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
