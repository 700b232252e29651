import { Suspense, useMemo, useState } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { Columns } from '../../components/facts.tsx'
import { lazyPart } from '../../components/lazy-part.ts'
import { latencyByTool, latencyOverTime, type ToolLatency } from '../../latency/latency.ts'
import { hrefOf } from '../../routing/route.ts'
import type { CallFilter } from '../../state/call-list.ts'
import { durationText } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'

const LatencyPlot = lazyPart(async () => (await import('../../latency/latency-plot.tsx')).LatencyPlot)

const SHOWN_TOOLS = 6

/** How long calls take: a plot over time for the filtered calls, and a table by tool. */
export function LatencyCard({ calls, filter }: { calls: readonly CallRecord[]; filter: CallFilter }) {
  const tools = useMemo(() => latencyByTool(calls), [calls])
  const columns = useMemo(() => latencyOverTime(calls), [calls])
  const [isOpen, setOpen] = useState(false)
  if (tools.length === 0) return null
  const what = filter.tool === undefined ? 'all tools' : oneLine(filter.tool, 60)
  return (
    <section className={`card latency ${isOpen ? '' : 'latency-folded'}`} aria-label="Latency">
      <div className="latency-plot">
        <div className="latency-head">
          <h2>Latency of {what}</h2>
          <span className="legend">
            <span className="legend-p50">p50</span>
            <span className="legend-p95">p95</span>
          </span>
          <Button
            look="quiet"
            className="latency-fold"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Hide' : 'Show'}
          </Button>
        </div>
        <div className="latency-chart">
          {columns[0].length < 2 && <p className="muted">Not enough data for a line yet.</p>}
          {columns[0].length > 1 && (
            <Suspense fallback={<div className="plot-place" />}>
              <LatencyPlot
                columns={columns}
                label={`Latency of ${what} over time; the table next to it has the numbers`}
              />
            </Suspense>
          )}
        </div>
      </div>
      <LatencyTable tools={tools} filter={filter} />
    </section>
  )
}

function LatencyTable({ tools, filter }: { tools: ToolLatency[]; filter: CallFilter }) {
  return (
    <table className="latency-table">
      <caption className="visually-hidden">Latency of each tool</caption>
      <Columns
        names={['Tool', 'Calls', 'p50', 'p95', 'Failed']}
        classes={{ Calls: 'numeric', p50: 'numeric', p95: 'numeric', Failed: 'numeric' }}
      />
      <tbody>
        {tools.slice(0, SHOWN_TOOLS).map(({ tool, calls, p50, p95, failed, slow }) => (
          <tr key={tool}>
            <td>
              <a href={hrefOf({ view: 'calls', filter: { ...filter, tool } })}>{oneLine(tool, 80)}</a>
            </td>
            <td className="numeric figure">{calls}</td>
            <td className="numeric figure">{durationText(p50)}</td>
            <td className={`numeric figure ${slow > 0 ? 'slow' : ''}`}>{durationText(p95)}</td>
            <td className={`numeric figure ${failed > 0 ? 'bad' : 'muted'}`}>{failed}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
