/** What a broker answers instead of letting us in. */
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'it does not speak MQTT 3.1.1',
  2: 'it does not accept the client id',
  3: 'it is not available at the moment',
  4: 'it does not accept the user name or password',
  5: 'it does not let us in: check user name and password',
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'it broke the connection off',
  EPIPE: 'it broke the connection off',
}

/** Why there is no connection to a broker, in words. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  if (typeof code === 'number') return REFUSALS[code] ?? error.message
  if (typeof code === 'string' && CAUSES[code]) return `${CAUSES[code]} (${code})`
  return /connack timeout|keepalive timeout/i.test(error.message)
    ? 'it does not answer'
    : error.message || error.name
}
