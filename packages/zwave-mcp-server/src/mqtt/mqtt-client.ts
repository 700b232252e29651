import { Socket } from 'node:net'

/** Disables Nagle's algorithm: with it, a switch can wait 40 ms for the previous packet to be acknowledged. */
export function sendWithoutDelay({ stream }: { readonly stream: unknown }): void {
  if (stream instanceof Socket) stream.setNoDelay(true)
}

/** Keeps `DEBUG=*` from printing mqtt.js's packets, which include the password. Call it before loading mqtt. */
export function hushPackets(): void {
  if (process.env.DEBUG && !process.env.DEBUG.includes('-mqtt*')) process.env.DEBUG += ',-mqtt*'
}
