import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'toolpost-login-1'

/** Encrypts `text`, bound to `owner`: it cannot be decrypted for any other. */
export function seal(text: string, owner: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${VERSION} ${sealed.toString('base64')}\n`
}

/** Throws on anything `seal` did not write for the same owner with the same key. */
export function unseal(sealed: string, owner: string, key: Buffer): string {
  const [version, data = ''] = sealed.trim().split(' ')
  if (version !== VERSION) throw new Error('not a login of this version')
  const bytes = Buffer.from(data, 'base64')
  const tag = bytes.subarray(-TAG_BYTES)
  const options = { authTagLength: TAG_BYTES }
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), options)
  decipher.setAAD(Buffer.from(owner)).setAuthTag(tag)
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  return Buffer.concat([text, decipher.final()]).toString('utf8')
}
