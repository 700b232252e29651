const PROTOCOLS = ['mqtt:', 'mqtts:', 'tcp:', 'ssl:', 'tls:', 'ws:', 'wss:']

/** Checks `mqtt://user:password@host:1883`, where the scheme may be missing. Throws an error fit to show a user. */
export function brokerUrl(text: string): string {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text.trim()) ? text.trim() : `mqtt://${text.trim()}`
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (hostname && PROTOCOLS.includes(protocol)) return url
  throw new Error(
    `The MQTT broker URL must look like mqtt://host:1883 or mqtts://host:8883, not "${withoutCredentials(text)}".`,
  )
}

/** The address without user, password and query, safe to show. */
export function withoutCredentials(text: string): string {
  const [, scheme = '', place = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(?:.*@)?(.*)$/is.exec(text.trim()) ?? []
  return `${scheme}${/^[\p{L}\p{N}._~[\]:/-]*?(?=$|\?)/u.exec(place)?.[0] || '…'}`
}
