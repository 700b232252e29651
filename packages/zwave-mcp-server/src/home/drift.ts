import type { Timers } from './timers.ts'
import type { Drift, VirtualDevice, VirtualValue } from './virtual-device.ts'

type Report = (value: VirtualValue) => void

/** Drifts a device's drifting values until the timers are cleared. A dead device does not report. */
export function drift(device: VirtualDevice, timers: Timers, report: Report): void {
  const step = (value: VirtualValue, bounds: Drift, direction: 1 | -1) =>
    timers.after(bounds.everyMs, () => {
      const next = nextDrift(Number(value.value ?? bounds.min), direction, bounds)
      Object.assign(value, { value: next.value, lastUpdate: Date.now() })
      if (device.status !== 'Dead') report(value)
      step(value, bounds, next.direction)
    })
  for (const value of device.values) if (value.drift) step(value, value.drift, 1)
}

/** The next value of a drifting sensor: one step on, reversing at the bounds. */
export function nextDrift(
  value: number,
  direction: 1 | -1,
  { step, min, max }: Drift,
): { value: number; direction: 1 | -1 } {
  const moved = round(value + direction * step)
  if (moved > max) return { value: round(value - step), direction: -1 }
  if (moved < min) return { value: round(value + step), direction: 1 }
  return { value: moved, direction }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
