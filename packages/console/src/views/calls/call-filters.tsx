import { useMemo } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { goInPlace } from '../../routing/use-route.ts'
import type { CallFilter } from '../../state/call-list.ts'
import { oneLine } from '../../text/visible-text.ts'

const OUTCOMES = ['succeeded', 'failed', 'running', 'slow']

interface Props {
  calls: readonly CallRecord[]
  filter: CallFilter
  serial: number | undefined
}

/** The filters are part of the address, so that a filtered list can be bookmarked and shared. */
export function CallFilters({ calls, filter, serial }: Props) {
  const tools = useMemo(() => distinct(calls.map(call => call.tool)), [calls])
  const sources = useMemo(() => distinct(calls.map(call => call.source)), [calls])
  const set = (part: CallFilter) => goInPlace({ view: 'calls', serial, filter: { ...filter, ...part } })
  const any = Object.values(filter).some(value => value !== undefined)
  return (
    <fieldset className="filters">
      <legend className="visually-hidden">Filters</legend>
      <Choice label="Tool" value={filter.tool} choices={tools} onChange={tool => set({ tool })} />
      <Choice label="Source" value={filter.source} choices={sources} onChange={source => set({ source })} />
      <Choice
        label="Outcome"
        value={filter.outcome}
        choices={OUTCOMES}
        onChange={outcome => set({ outcome })}
      />
      {any && (
        <Button look="quiet" onClick={() => goInPlace({ view: 'calls', serial, filter: {} })}>
          Clear filters
        </Button>
      )}
    </fieldset>
  )
}

interface ChoiceProps {
  label: string
  value: string | undefined
  choices: string[]
  onChange: (value: string | undefined) => void
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  const all = value === undefined || choices.includes(value) ? choices : [value, ...choices]
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value ?? ''} onChange={event => onChange(event.target.value || undefined)}>
        <option value="">all</option>
        {all.map(choice => (
          <option key={choice} value={choice}>
            {oneLine(choice, 60)}
          </option>
        ))}
      </select>
    </label>
  )
}

function distinct(values: string[]): string[] {
  return [...new Set(values)].sort((a, b) => a.localeCompare(b))
}
