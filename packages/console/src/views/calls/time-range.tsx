import { useState } from 'react'
import type { CallFilter } from '../../state/call-list.ts'

const RANGES: [value: string, label: string][] = [
  ['', 'any time'],
  ['15m', 'last 15 minutes'],
  ['1h', 'last hour'],
  ['1d', 'last day'],
  ['7d', 'last week'],
]
const OWN = 'own'

interface Props {
  filter: CallFilter
  onChange: (part: CallFilter) => void
}

/** A preset range, or a custom one. */
export function TimeRange({ filter: { since, until }, onChange }: Props) {
  const isUsual = until === undefined && RANGES.some(([value]) => value === (since ?? ''))
  const [isOwn, setOwn] = useState(!isUsual)
  const choose = (value: string) => {
    setOwn(value === OWN)
    if (value !== OWN) onChange({ since: value || undefined, until: undefined })
  }
  return (
    <>
      <label className="filter">
        <span>Time</span>
        <select value={isOwn ? OWN : (since ?? '')} onChange={event => choose(event.target.value)}>
          {RANGES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
          <option value={OWN}>custom range</option>
        </select>
      </label>
      {isOwn && (
        <>
          <Moment label="Since" value={since} onChange={time => onChange({ since: time })} />
          <Moment label="Until" value={until} onChange={time => onChange({ until: time })} />
        </>
      )}
    </>
  )
}

interface MomentProps {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

function Moment({ label, value, onChange }: MomentProps) {
  return (
    <label className="filter filter-moment">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={value?.includes('T') ? value : ''}
        onChange={event => onChange(event.target.value || undefined)}
      />
    </label>
  )
}
