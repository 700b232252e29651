/** The gateway cannot be started as it was asked to. The message says what to do. */
export class GatewayError extends Error {
  override name = 'GatewayError'
}
