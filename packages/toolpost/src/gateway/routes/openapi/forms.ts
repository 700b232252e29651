/* Shorthands for JSON Schema: `record('a b?:number')` has a string `a` and an optional number `b`. */

export function record(fields: string, more: Record<string, object> = {}): object {
  const entries = fields.split(' ').map(field => {
    const [, name = '', optional, type = 'string'] = /^(\w+)(\?)?(?::(\w+))?$/.exec(field) ?? []
    return { name, isRequired: optional === undefined, schema: more[name] ?? { type } }
  })
  return {
    type: 'object',
    required: entries.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(entries.map(({ name, schema }) => [name, schema])),
  }
}

export function ref(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}

export function listOf(name: string, items: object): object {
  return record(name, { [name]: { type: 'array', items } })
}

export function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

export const ERRORS: Record<number, string> = {
  400: 'Invalid request',
  401: 'The token is missing or wrong',
  403: 'Host or Origin not allowed',
  404: 'Not found',
  409: 'Already in progress, already ended, or the name is taken',
  410: 'The result has expired',
  413: 'The body is too large',
  415: 'The content type is not audio/wav',
  422: 'No speech recognized, a mistake in the configuration, a server that does not work, or an Idempotency-Key of another call',
  429: 'Over a limit: the result says which, and Retry-After when to try again',
  502: 'The server or its authorization server sent an unexpected response',
  503: 'Busy or shutting down: try again later',
}
export const CALL_ERRORS = [400, 404, 413, 503]
export const ANYTHING = { type: 'object' }
export const TEXT = { type: 'string' }
export const NAMES = { type: 'array', items: TEXT }

export function responses(
  schema: object,
  errors: readonly number[],
  content: object = jsonContent(schema),
): Record<number, object> {
  const failures = errors.map(status => [status, { $ref: `#/components/responses/${status}` }])
  return { 200: { description: 'The answer', content }, ...Object.fromEntries(failures) }
}
