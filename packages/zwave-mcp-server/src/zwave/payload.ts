export type Primitive = string | number | boolean

/** A value as it was published. `value` is left out where the device has not reported one yet. */
export interface Payload {
  readonly value?: Primitive
  /** When the device reported it, in ms since 1970; left out where the gateway does not say. */
  readonly time?: number
  readonly unit?: string
  readonly label?: string
  /** The other fields, e.g. `status` and `nodeId` of a node's status. */
  readonly fields: Readonly<Record<string, unknown>>
}

export type ParsedPayload =
  | { readonly ok: true; readonly payload: Payload }
  | { readonly ok: false; readonly reason: string }

/**
 * Reads the three payload types of Z-Wave JS UI: "JSON time-value", "entire value ID object" and "just value".
 * An empty payload never gets here: it means that a retained message was removed.
 */
export function parsePayload(text: string): ParsedPayload {
  const json = parseJson(text)
  if (json === undefined) return { ok: false, reason: 'it is not JSON' }
  if (isPrimitive(json)) return { ok: true, payload: { value: json, fields: {} } }
  if (!isRecord(json)) return { ok: false, reason: 'it has no value' }
  if (!('value' in json) && typeof json.time !== 'number') return { ok: false, reason: 'it has no value' }
  return { ok: true, payload: fromRecord(json) }
}

function fromRecord(json: Record<string, unknown>): Payload {
  const time = json.time ?? json.lastUpdate
  return {
    fields: json,
    ...(isPrimitive(json.value) && { value: json.value }),
    ...(typeof time === 'number' && Number.isFinite(time) && { time }),
    ...(typeof json.unit === 'string' && { unit: json.unit }),
    ...(typeof json.label === 'string' && { label: json.label }),
  }
}

/** The JSON value of a text; undefined where it is none (`null` counts as none: no gateway publishes it). */
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
