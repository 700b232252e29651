import { Socket } from 'node:net'

/** Sends small packets at once: otherwise a switch can wait 40 ms for the acknowledgement of the packet before. */
export function sendWithoutDelay({ stream }: { readonly stream: unknown }): void {
  if (stream instanceof Socket) stream.setNoDelay(true)
}

/** Keeps `DEBUG=*` from printing mqtt.js's packets, and with them the password. Call it before mqtt is loaded. */
export function hushPackets(): void {
  if (process.env.DEBUG && !process.env.DEBUG.includes('-mqtt*')) process.env.DEBUG += ',-mqtt*'
}
