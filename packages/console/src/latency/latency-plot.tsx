import { useEffect, useRef, useSyncExternalStore } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useStore } from '../state/store.ts'
import { theme } from '../state/theme.ts'
import { clockText } from '../text/figures.ts'
import type { LatencyColumns } from './latency.ts'

const HEIGHT = 168

/** p50 and p95 over time, on a logarithmic scale so that a slow tool does not flatten the others. */
export function LatencyPlot({ columns, label }: { columns: LatencyColumns; label: string }) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const latest = useRef(columns)
  latest.current = columns
  const colours = useColours()
  // biome-ignore lint/correctness/useExhaustiveDependencies: new colours need a new plot
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new uPlot(optionsFor(element), drawable(latest.current), element)
    plot.current = made
    const stop = followSize(element, made)
    return () => {
      stop()
      made.destroy()
    }
  }, [colours])
  useEffect(() => plot.current?.setData(drawable(columns)), [columns])
  return <div ref={place} className="plot-place" role="img" aria-label={label} />
}

/** Changes when the page's colours do, through the switch or the system. */
function useColours(): string {
  const chosen = useStore(theme, value => value)
  const dark = useSyncExternalStore(watchSystem, () => darkSystem.matches)
  return `${chosen} ${dark}`
}

const darkSystem = matchMedia('(prefers-color-scheme: dark)')

function watchSystem(listener: () => void): () => void {
  darkSystem.addEventListener('change', listener)
  return () => darkSystem.removeEventListener('change', listener)
}

/** Zero has no logarithm. */
function drawable([times, p50, p95]: LatencyColumns): uPlot.AlignedData {
  const positive = (values: number[]) => values.map(value => Math.max(0.1, value))
  return [times, positive(p50), positive(p95)]
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const colour = (name: string) => colourOf(element, name)
  const axis = {
    stroke: colour('--plot-text'),
    font: `11px ${getComputedStyle(element).fontFamily}`,
    ticks: { show: false },
    grid: { stroke: colour('--plot-grid'), width: 1 },
  }
  const line = { width: 2, points: { size: 5 } }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: { y: { distr: 3, range: rangeOf } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        values: (_, times) => times.map(seconds => clockText(seconds * 1_000)),
      },
      {
        ...axis,
        size: 54,
        splits: powersOfTen,
        filter: (_, splits) => splits,
        values: (_, values) => values.map(axisDuration),
      },
    ],
    series: [
      {},
      { ...line, stroke: colour('--plot-p50') },
      { ...line, stroke: colour('--plot-p95'), dash: [5, 4] },
    ],
  }
}

/** Whole powers of ten around the values. */
function rangeOf(_: uPlot, least: number, most: number): [number, number] {
  const low = 10 ** Math.floor(Math.log10(Math.max(0.1, least || 1)))
  return [low, Math.max(low * 10, 10 ** Math.ceil(Math.log10(Math.max(0.1, most || 1))))]
}

function axisDuration(ms: number): string {
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`
}

function powersOfTen(_: uPlot, __: number, least: number, most: number): number[] {
  const first = Math.round(Math.log10(least))
  const count = Math.round(Math.log10(most)) - first + 1
  return Array.from({ length: count }, (_value, at) => Number((10 ** (first + at)).toPrecision(1)))
}

/** A style sheet colour for the current theme, in a form the canvas accepts. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function followSize(element: HTMLElement, plot: uPlot): () => void {
  const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
  observer.observe(element)
  return () => observer.disconnect()
}
