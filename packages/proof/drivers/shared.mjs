// What several drivers need.

export const basics = ['stdio', 'http', 'servers', 'timeout', 'cancel', 'images']

export function outcomeOf({ content = [], structuredContent, isError = false }) {
  const texts = content.map(block => block.text ?? block.resource?.text ?? '')
  const images = content
    .filter(({ type }) => type === 'image')
    .map(({ data, mimeType }) => ({ base64: data, mimeType }))
  return { ok: !isError, text: texts.join('\n'), structured: structuredContent, images }
}

/** For executors that follow a signal, but have no timeout for a call. */
export function signalOf({ signal, timeoutMs }) {
  return timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
}

export function mapServers(servers, entryOf) {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, entryOf(server)]))
}
