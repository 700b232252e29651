import type { Run } from 'toolpost/project'
import { Choice } from '../../components/choice.tsx'
import type { RunFilter } from '../../routing/route.ts'
import { goInPlace } from '../../routing/use-route.ts'

const STATES = ['waiting', 'approval', 'running', 'done', 'failed', 'cancelled']

/** Part of the address, like the filters of the calls. */
export function RunFilters({ filter, runs }: { filter: RunFilter; runs: readonly Run[] }) {
  const set = (part: RunFilter) => goInPlace({ view: 'runs', filter: { ...filter, ...part } })
  const tools = [...new Set(runs.map(run => run.tool))].sort()
  return (
    <fieldset className="filters">
      <legend className="visually-hidden">Filters</legend>
      <Choice label="State" value={filter.state} choices={STATES} onChange={state => set({ state })} />
      <Choice label="Tool" value={filter.tool} choices={tools} onChange={tool => set({ tool })} />
    </fieldset>
  )
}
