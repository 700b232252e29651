import type { HomeDevice } from './home.ts'

/** Devices that a request refers to. */
export interface Reference {
  readonly kind: 'reference'
  readonly devices: readonly HomeDevice[]
  /** Whether all of them are meant; if not, and there are several, it is unclear which. */
  readonly isAll: boolean
  /** Whether exactly two are meant; which ones may be clear only once the room is. */
  readonly isBoth?: boolean | undefined
  /** Whether all were explicitly meant: "all the lights", not just "the lights". */
  readonly isEvery?: boolean | undefined
  /** The noun used for them: "lights". */
  readonly noun?: string | undefined
  /** Devices that were meant but cannot do it. */
  readonly unfit: readonly HomeDevice[]
}

export function isReference(value: unknown): value is Reference {
  return (value as Reference | null)?.kind === 'reference'
}

/** Both references in one. */
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
