import type { ServerResponse } from 'node:http'
import type { FakeGateway } from '../fake-gateway.ts'

/** What comes of a recording; `undefined` is an answer that never comes. */
export type Hearing = { text: string } | { error: string } | undefined

interface Transcription {
  gateway: FakeGateway
  wav: Buffer
  response: ServerResponse
}

/** Keeps the recording, and answers what it was told to. */
export function answerTranscription({ gateway, wav, response }: Transcription): void {
  const { hears, recordings } = gateway
  recordings.push(wav)
  if (hears === undefined) return
  const [status, body] = 'error' in hears ? [422, hears] : [200, { ...hears, durationMs: 12 }]
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
