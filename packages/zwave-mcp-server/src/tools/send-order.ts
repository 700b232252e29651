import type { Primitive } from '../zwave/messages.ts'
import type { Command } from '../zwave/zwave-network.ts'
import type { Picked } from './pick-device.ts'
import type { ToolContext } from './tool.ts'

/** What to send, and which report confirms it. */
export interface Order extends Pick<Command, 'state' | 'target' | 'value' | 'accepts'> {
  /** The command as spoken: "on", "lock". */
  readonly command: string
  /** Phrases a report, to follow "it is". */
  readonly say: (reported: Primitive) => string
}

/** The outcome of an order. `missed` says why the device did not confirm it. */
export type Outcome =
  | { readonly failure: string }
  | { readonly reported?: Primitive; readonly said?: string; readonly missed?: string }

/** Sends an order and waits for the device's report. */
export async function sendOrder(
  { network, confirmTimeoutMs: timeoutMs, signal }: ToolContext,
  { device, name }: Picked,
  { command, say, ...order }: Order,
): Promise<Outcome> {
  const outcome = await network.send({ ...order, device, timeoutMs, signal })
  if ('cause' in outcome) {
    const sent =
      outcome.kind === 'refused' ? 'The gateway did not carry out the command for' : 'Nothing was sent to'
    return { failure: `${sent} ${name}: ${outcome.cause}.` }
  }
  const { kind, reported } = outcome
  const seen = reported === undefined ? {} : { reported, said: say(reported) }
  if (kind === 'confirmed') return seen
  const why = {
    lost: 'the connection to the broker was lost before it confirmed.',
    cancelled: 'the call was cancelled before it confirmed.',
    timeout: `not confirmed within ${timeoutMs / 1000} seconds.`,
  }[kind]
  const report = seen.said ? ` It reported that it is ${seen.said}.` : ''
  return { ...seen, missed: `The command ${command} was sent to ${name}, but ${why}${report}` }
}
