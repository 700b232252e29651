import { inspect } from 'node:util'

/** An error as sent from the child to the parent: what a caller can act on, and no stack. */
export interface WireError {
  name: string
  message: string
  code?: string | number
  status?: number
  cause?: WireError
}

/** Describes anything that was thrown, with its cause but not the cause's cause. */
export function toWire(thrown: unknown, withCause = true): WireError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: textOf(thrown) }
  const wire: WireError = { name: String(thrown.name), message: String(thrown.message) }
  const { code, status } = thrown as { code?: unknown; status?: unknown }
  if (typeof code === 'string' || typeof code === 'number') wire.code = code
  if (typeof status === 'number') wire.status = status
  if (withCause && thrown.cause !== undefined) wire.cause = toWire(thrown.cause, false)
  return wire
}

/** The error that a `WireError` describes. */
export function fromWire(wire: WireError): Error {
  const { message, cause, ...fields } = wire
  const error = cause === undefined ? new Error(message) : new Error(message, { cause: fromWire(cause) })
  return Object.assign(error, fields)
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
}
