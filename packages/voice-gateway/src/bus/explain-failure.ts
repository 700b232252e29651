/** CONNACK return codes of a broker that refuses the connection. */
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'it does not support MQTT 3.1.1',
  2: 'client id rejected',
  3: 'server unavailable',
  4: 'wrong user name or password',
  5: 'not authorized: check user name and password',
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'DNS lookup failed',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'no route to host',
  ETIMEDOUT: 'no answer',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
}

/** Why there is no connection to a broker, for people. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  if (typeof code === 'number') return REFUSALS[code] ?? error.message
  if (typeof code === 'string' && CAUSES[code]) return `${CAUSES[code]} (${code})`
  return /connack timeout|keepalive timeout/i.test(error.message) ? 'no answer' : error.message || error.name
}
