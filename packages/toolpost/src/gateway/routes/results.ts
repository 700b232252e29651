import type { Hono } from 'hono'
import { isText, whyMissing } from '../../tools/results/read-result.ts'
import { HANDLE_PREFIX, type MayRead } from '../../tools/results/result-store.ts'
import type { Client } from '../client.ts'
import type { GatewayContext } from '../gateway-context.ts'
import { bytes, failure } from '../http/answers.ts'

/** Types a page may show; anything else, such as HTML from a tool, is download-only. */
const SHOWN = /^(?:text\/plain|application\/json|image\/(?:png|jpeg|gif|webp)|audio\/[\w.+-]+)$/
const ENDINGS: Record<string, string> = {
  'text/plain': 'txt',
  'application/json': 'json',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
}

/** A kept result in full, for the caller of the tool and the owner of the gateway. */
export function addResultRoutes(app: Hono, { source, clients }: GatewayContext): void {
  app.get('/api/results/:id', async c => {
    const results = source.bigResults
    const id = c.req.param('id')
    if (!results) return failure(404, 'Long results are not kept here')
    const handle = `${HANDLE_PREFIX}${id}`
    const found = await results.store.read(handle, readerOf(clients.of(c.req.raw)))
    if (typeof found === 'string')
      return failure(found === 'expired' ? 410 : 404, `${whyMissing(handle, found, results.minutes)}.`)
    const { content, mimeType } = found
    const isShown = SHOWN.test(mimeType) && c.req.query('download') === undefined
    const type = SHOWN.test(mimeType) ? mimeType : 'application/octet-stream'
    const name = `result-${id}.${ENDINGS[mimeType] ?? 'bin'}`
    return bytes(content, {
      'content-type': isText(type) ? `${type}; charset=utf-8` : type,
      'content-disposition': `${isShown ? 'inline' : 'attachment'}; filename="${name}"`,
    })
  })
}

/** A client may read the results of all its conversations; the owner, who sees all calls, everyone's. */
function readerOf(client: Client): MayRead {
  return client.isNamed ? owner => owner.caller === client.caller : () => true
}
