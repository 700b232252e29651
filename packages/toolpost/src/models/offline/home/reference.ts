import type { HomeDevice } from './home.ts'

/** Devices that somebody spoke of. */
export interface Reference {
  readonly kind: 'reference'
  readonly devices: readonly HomeDevice[]
  /** Whether all of them are meant; if not, and there are several, it is not clear which. */
  readonly isAll: boolean
  /** Whether two are meant, which may be clear only with the room. */
  readonly isBoth?: boolean | undefined
  /** What they were called together: "lights". */
  readonly noun?: string | undefined
  /** Those that were meant but cannot do it. */
  readonly unfit: readonly HomeDevice[]
}

export function isReference(value: unknown): value is Reference {
  return (value as Reference | null)?.kind === 'reference'
}

/** The devices of both. */
export function together(first: Reference, second: Reference): Reference {
  return {
    kind: 'reference',
    devices: [...new Set([...first.devices, ...second.devices])],
    isAll: true,
    unfit: [...first.unfit, ...second.unfit],
  }
}

/** The first without the second. */
export function without(first: Reference, second: Reference): Reference {
  return { ...first, isAll: true, devices: first.devices.filter(device => !second.devices.includes(device)) }
}
