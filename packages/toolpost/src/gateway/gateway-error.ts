/** The gateway cannot start with these options. The message says what to do. */
export class GatewayError extends Error {
  override name = 'GatewayError'
}
