import { messageOf } from '../text/message-of.ts'
import { ApiError, request } from './http.ts'

const PREFIX = 'result://'

/** A result that the gateway keeps for a while, unchanged, or why it is unavailable. Never rejects. */
export async function keptResult(handle: string): Promise<{ blob: Blob } | { problem: string }> {
  try {
    const response = await request(`/api/results/${encodeURIComponent(handle.replace(PREFIX, ''))}`)
    return { blob: await response.blob() }
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 410))
      return { problem: 'This result has expired on the gateway. Run the call again.' }
    return { problem: messageOf(error) }
  }
}

/** The handle from the result's `handle` field, or from the text for the model. */
export function handleIn({ handle, text }: { handle?: unknown; text?: unknown }): string | undefined {
  if (typeof handle === 'string' && handle.startsWith(PREFIX)) return handle
  const [found] = typeof text === 'string' ? (/result:\/\/[\w-]{1,80}/.exec(text) ?? []) : []
  return found
}
