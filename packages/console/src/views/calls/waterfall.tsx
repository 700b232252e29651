import type { CallRecord } from 'toolpost/gateway'
import { durationText } from '../../text/figures.ts'

interface Stage {
  name: string
  fromMs: number
  ms: number
}

/** Where a call spent its time. */
export function Waterfall({ call }: { call: CallRecord }) {
  const stages = stagesOf(call)
  const { durationMs = 0 } = call
  if (stages.length === 0 || durationMs <= 0) return null
  return (
    <section>
      <h3>Stages</h3>
      <ol className="waterfall">
        {stages.map(({ name, fromMs, ms }) => (
          <li key={name}>
            <span className="waterfall-name">{name}</span>
            <span className="waterfall-track" aria-hidden="true">
              <span
                className={`waterfall-bar waterfall-${name.toLowerCase()}`}
                style={{
                  left: `${share(fromMs, durationMs)}%`,
                  width: `${Math.max(0.6, share(ms, durationMs))}%`,
                }}
              />
            </span>
            <span className="figure waterfall-time">{durationText(ms)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** For calls recorded by an older Toolpost, only the wait is known. */
function stagesOf({ stages, durationMs, waitedMs = 0, result }: CallRecord): Stage[] {
  if (durationMs === undefined || result === undefined) return []
  const endOf = (name: string) => {
    const { start_ms = 0, duration_ms = 0 } = stages?.find(stage => stage.name === name) ?? {}
    return start_ms + duration_ms
  }
  const foundMs = endOf('find')
  const fittedMs = Math.max(foundMs, endOf('fit'))
  const invokedAt = Math.min(durationMs, fittedMs + waitedMs)
  const all = [
    ...(stages
      ? [
          { name: 'Found', fromMs: 0, ms: foundMs },
          { name: 'Fitted', fromMs: foundMs, ms: fittedMs - foundMs },
        ]
      : []),
    ...(waitedMs >= 1 ? [{ name: 'Waited', fromMs: fittedMs, ms: waitedMs }] : []),
    { name: 'Invoked', fromMs: invokedAt, ms: durationMs - invokedAt },
  ]
  return all.map(stage => ({ ...stage, ms: Math.max(0, stage.ms) }))
}

function share(ms: number, of: number): number {
  return Math.min(100, (100 * ms) / of)
}
