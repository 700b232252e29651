import { useMemo } from 'react'
import { useNow } from '../../components/use-now.ts'
import { hrefOf } from '../../routing/route.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { clockText, counted } from '../../text/figures.ts'
import { callsAMinute, type Minute } from './calls-a-minute.ts'

const MINUTES = 45
const HEIGHT = 72

/** Calls per minute, and how many of them failed. */
export function ActivityCard() {
  const calls = useStore(gateway, state => state.calls)
  const now = useNow(5_000)
  const minutes = useMemo(() => callsAMinute(calls ?? [], now, MINUTES), [calls, now])
  const total = minutes.reduce((sum, { calls: count }) => sum + count, 0)
  const failed = minutes.reduce((sum, minute) => sum + minute.failed, 0)
  return (
    <section className="card home-activity" aria-labelledby="home-activity">
      <div className="card-head">
        <h2 id="home-activity">Calls per minute</h2>
        <a href={hrefOf({ view: 'calls' })}>All calls</a>
      </div>
      <p className="home-figures">
        <strong className="figure">{total.toLocaleString('en')}</strong>
        <span className="muted">in the last {MINUTES} minutes</span>
        <span className={failed > 0 ? 'bad' : 'muted'}>
          {failed > 0 ? `${failed.toLocaleString('en')} failed` : total > 0 ? 'none failed' : ''}
        </span>
      </p>
      <Bars minutes={minutes} />
    </section>
  )
}

function Bars({ minutes }: { minutes: Minute[] }) {
  const most = Math.max(4, ...minutes.map(({ calls }) => calls))
  const label = `Calls in each of the last ${minutes.length} minutes, at most ${counted(most, 'call')}`
  return (
    <figure className="bars">
      <svg
        viewBox={`0 0 ${minutes.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {minutes.map(({ at, calls, failed }, place) => (
          <Bar key={at} place={place} height={(calls / most) * HEIGHT} failed={(failed / most) * HEIGHT} />
        ))}
      </svg>
      <figcaption className="bars-axis muted figure">
        <span>{clockText(minutes[0]?.at ?? 0).slice(0, 5)}</span>
        <span>now</span>
      </figcaption>
    </figure>
  )
}

function Bar({ place, height, failed }: { place: number; height: number; failed: number }) {
  const x = place * 10 + 1.5
  return (
    <>
      <rect className="bar-ground" x={x} y={HEIGHT - 2} width={7} height={2} />
      {height > 0 && <rect className="bar" x={x} y={HEIGHT - height} width={7} height={height} />}
      {failed > 0 && <rect className="bar-failed" x={x} y={HEIGHT - failed} width={7} height={failed} />}
    </>
  )
}
