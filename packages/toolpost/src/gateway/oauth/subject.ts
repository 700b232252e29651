import { createHash } from 'node:crypto'
import type { JWTPayload } from 'jose'

/** Configured clients cannot have a colon in their name. */
const SUBJECT = 'oauth:'
const CLIENT = 'oauth-client:'
const HASHED = 'sha256:'

/** Whether a caller's name or key belongs to someone with an OAuth token. */
export function isSubject(name: string): boolean {
  return name.startsWith(SUBJECT) || name.startsWith(CLIENT)
}

/** The name of a token's holder: its subject, or without one the client it was issued to. */
export function nameIn({ sub, client_id: client }: JWTPayload): string | undefined {
  if (typeof sub === 'string' && sub !== '') return `${SUBJECT}${readable(sub)}`
  return typeof client === 'string' && client !== '' ? `${CLIENT}${readable(client)}` : undefined
}

/** Unchanged if short and printable, else hashed; always unique. */
function readable(id: string): string {
  if (/^[\x21-\x7e]{1,128}$/.test(id) && !id.startsWith(HASHED)) return id
  return `${HASHED}${createHash('sha256').update(id).digest('hex')}`
}

/** The scopes of a token; some issuers call them `scp` or use a list. */
export function scopesIn({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp
  if (Array.isArray(given)) return given.filter(each => typeof each === 'string')
  return typeof given === 'string' ? given.split(' ') : []
}
