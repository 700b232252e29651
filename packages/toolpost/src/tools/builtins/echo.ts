/** Returns its arguments: for trying out a model, a client or a connection. */
export function echo(args: unknown): { echo: unknown } {
  return { echo: args }
}
