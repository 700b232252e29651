export type Primitive = string | number | boolean

/** What is known of a value. `value` is left out if the device has not reported one yet. */
export interface Reported {
  readonly value?: Primitive
  /** When the device reported it, in ms since 1970; left out if nobody said. */
  readonly time?: number
  readonly unit?: string
  readonly label?: string
}

/** A value or a status as it was published. */
export interface Payload extends Reported {
  readonly nodeId?: number
  /** Of a node: `Alive`, `Dead`, … */
  readonly status?: unknown
}

export type ParsedPayload =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly reason: string }

/** Far above what a gateway writes for one value. */
const MAX_LENGTH = 64 * 1024
const MAX_SHOWN_LENGTH = 200

/**
 * Reads the payload types of Z-Wave JS UI: "JSON time-value", "entire Z-Wave value object" and "just value".
 * An empty payload never gets here: it means that a retained message was removed.
 */
export function parsePayload(text: string): ParsedPayload {
  if (text.length > MAX_LENGTH) return { ok: false, reason: 'it is too long' }
  const json = parseJson(text)
  if (json === undefined) return { ok: false, reason: 'it is not JSON' }
  if (isPrimitive(json)) return { ok: true, payload: parseReported({ value: json }) }
  if (!isRecord(json)) return { ok: false, reason: 'it has no value' }
  if (!('value' in json) && typeof json.time !== 'number') return { ok: false, reason: 'it has no value' }
  return { ok: true, payload: fromRecord(json) }
}

function fromRecord(json: Record<string, unknown>): Payload {
  const { nodeId, status, time = json.lastUpdate } = json
  return {
    ...parseReported({ ...json, time }),
    ...(typeof nodeId === 'number' && { nodeId }),
    ...(status !== undefined && { status }),
  }
}

/** The fields that can be used, cleaned. */
export function parseReported({ value, time, unit, label }: Record<string, unknown>): Reported {
  return {
    ...(isPrimitive(value) && { value: typeof value === 'string' ? cleanText(value) : value }),
    ...(isTime(time) && { time }),
    ...(typeof unit === 'string' && { unit: cleanText(unit) }),
    ...(typeof label === 'string' && { label: cleanText(label) }),
  }
}

/** The JSON value of a text; undefined if it is none (`null` counts as none: no gateway publishes it). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isPrimitive(value: unknown): value is Primitive {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Whether a number can be a time that a `Date` can hold. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15
}

/** Foreign text that is going to be said: on one line, bounded, without control characters or changes of direction. */
export function cleanText(text: string): string {
  const plain = text
    .slice(0, MAX_SHOWN_LENGTH)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
  return plain.toWellFormed().trim()
}
