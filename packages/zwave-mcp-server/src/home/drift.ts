import type { Drift } from './virtual-device.ts'

/** Where a drifting value goes next: one step on, and back again at the bounds. */
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
