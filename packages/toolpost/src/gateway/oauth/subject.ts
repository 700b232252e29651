import { createHash } from 'node:crypto'
import type { JWTPayload } from 'jose'

/** No client of a configuration can have a colon in its name. */
const SUBJECT = 'oauth:'
const CLIENT = 'oauth-client:'
const HASHED = 'sha256:'

/** Whether a caller's name, or key, is that of somebody with a token of an OAuth issuer. */
export function isSubject(name: string): boolean {
  return name.startsWith(SUBJECT) || name.startsWith(CLIENT)
}

/** What whoever has a token is called: its subject, or without one the program that it was given to. */
export function nameIn({ sub, client_id: client }: JWTPayload): string | undefined {
  if (typeof sub === 'string' && sub !== '') return `${SUBJECT}${readable(sub)}`
  return typeof client === 'string' && client !== '' ? `${CLIENT}${readable(client)}` : undefined
}

/** As it is, if it is short and can be read; no two are ever the same. */
function readable(id: string): string {
  if (/^[\x21-\x7e]{1,128}$/.test(id) && !id.startsWith(HASHED)) return id
  return `${HASHED}${createHash('sha256').update(id).digest('hex')}`
}

/** The scopes of a token; some issuers call them `scp`, or give a list. */
export function scopesIn({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp
  if (Array.isArray(given)) return given.filter(each => typeof each === 'string')
  return typeof given === 'string' ? given.split(' ') : []
}
