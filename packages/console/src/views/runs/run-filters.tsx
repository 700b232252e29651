import type { Run } from 'toolpost/project'
import type { RunFilter } from '../../routing/route.ts'
import { goInPlace } from '../../routing/use-route.ts'
import { oneLine } from '../../text/visible-text.ts'

const STATES = ['waiting', 'approval', 'running', 'done', 'failed', 'cancelled']

/** Part of the address, as those of the calls are. */
export function RunFilters({ filter, runs }: { filter: RunFilter; runs: readonly Run[] }) {
  const set = (part: RunFilter) => goInPlace({ view: 'runs', filter: { ...filter, ...part } })
  const tools = [...new Set([...(filter.tool ? [filter.tool] : []), ...runs.map(run => run.tool)])].sort()
  return (
    <fieldset className="filters">
      <legend className="visually-hidden">Filters</legend>
      <Choice label="State" value={filter.state} choices={STATES} onChange={state => set({ state })} />
      <Choice label="Tool" value={filter.tool} choices={tools} onChange={tool => set({ tool })} />
    </fieldset>
  )
}

interface ChoiceProps {
  label: string
  value: string | undefined
  choices: readonly string[]
  onChange: (value: string | undefined) => void
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value ?? ''} onChange={event => onChange(event.target.value || undefined)}>
        <option value="">all</option>
        {choices.map(choice => (
          <option key={choice} value={choice}>
            {oneLine(choice, 60)}
          </option>
        ))}
      </select>
    </label>
  )
}
