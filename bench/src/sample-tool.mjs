// The tool that every contender runs: the same function, arguments and schema.
import { z } from 'zod'

export const NAME = 'get_forecast'
export const DESCRIPTION = 'The weather of the next days'
export const LIMIT_MS = 30_000

export const JSON_SCHEMA = {
  type: 'object',
  properties: { location: { type: 'string' }, days: { type: 'integer' } },
  required: ['location'],
}
export const ZOD_SCHEMA = z.object({ location: z.string(), days: z.number().int().optional() })

export const ARGS = { location: 'Vienna', days: 3 }
export const WRONG_ARGS = { days: 'three' }
export const EXPECTED = '3 days of sun in Vienna'

export async function forecast({ location, days }) {
  return `${days} days of sun in ${location}`
}

export async function forecastReadingSignal({ location, days }, { signal }) {
  return signal === undefined ? 'no signal' : `${days} days of sun in ${location}`
}
