export type Primitive = string | number | boolean

/** What is known about a value. `value` is absent until the device has reported one. */
export interface Reported {
  readonly value?: Primitive
  /** When the device reported it, in ms since 1970; absent if unknown. */
  readonly time?: number
  readonly unit?: string
  readonly label?: string
}

/** A value or status as published. */
export interface Payload extends Reported {
  readonly nodeId?: number
  /** Of a node: `Alive`, `Dead`, … */
  readonly status?: unknown
}

export type ParsedPayload =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly reason: string }

/** Far more than a gateway writes for one value. */
const MAX_LENGTH = 64 * 1024
const MAX_SHOWN_LENGTH = 200

/**
 * Parses the payload types of Z-Wave JS UI: "JSON time-value", "entire Z-Wave value object" and "just value".
 * An empty payload never gets here: it means that a retained message was removed.
 */
export function parsePayload(text: string): ParsedPayload {
  if (text.length > MAX_LENGTH) return { ok: false, reason: 'it is too long' }
  const json = parseJson(text)
  if (json === undefined) return { ok: false, reason: 'it is not JSON' }
  if (isPrimitive(json)) return { ok: true, payload: parseReported({ value: json }) }
  if (!isRecord(json) || (!('value' in json) && typeof json.time !== 'number'))
    return { ok: false, reason: 'it has no value' }
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

/** The usable fields, cleaned. */
export function parseReported({ value, time, unit, label }: Record<string, unknown>): Reported {
  return {
    ...(isPrimitive(value) && { value: typeof value === 'string' ? cleanText(value) : value }),
    ...(isTime(time) && { time }),
    ...(typeof unit === 'string' && { unit: cleanText(unit) }),
    ...(typeof label === 'string' && { label: cleanText(label) }),
  }
}

/** Parses JSON; undefined if it is invalid or `null`, which no gateway publishes. */
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

/** Whether a value is a timestamp that a `Date` can hold. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15
}

/** Makes foreign text safe to show: one line, bounded, no control characters or bidi overrides. */
export function cleanText(text: string): string {
  const plain = text
    .slice(0, MAX_SHOWN_LENGTH)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
  return plain.toWellFormed().trim()
}
