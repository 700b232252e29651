import { Socket } from 'node:net'
import type { MqttClient } from 'mqtt'

/** Small packets go out at once: otherwise a switch can wait 40 ms for the acknowledgement of the packet before. */
export function sendWithoutDelay(client: MqttClient): void {
  const { stream } = client
  if (stream instanceof Socket) stream.setNoDelay(true)
}
