import { randomBytes } from 'node:crypto'
import { chmod, link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SERVICE = 'toolpost'
const KEY_BYTES = 32
const KEY_FILE = 'key'

/** Leaves time to unlock the keyring; the key is cached, so that this happens once. */
const KEYRING_MS = 30_000
const keysOfKeyring = new Map<string, Buffer>()

/** What is used of the system's keyring. */
interface Keyring {
  get(): Promise<string | null>
  set(value: string): Promise<void>
}

/**
 * The key for the logins in `folder`: from the system's keyring, or if there is none, from a file next to them that only its
 * owner may read. With `create`, it is created on first use; otherwise `undefined` if there is none.
 */
export async function loginKey(folder: string, create: boolean): Promise<Buffer | undefined> {
  const file = join(folder, KEY_FILE)
  const known = (await readKeyFile(file)) ?? keysOfKeyring.get(folder)
  if (known) return known
  const keyring = await systemKeyring(folder)
  const kept = asKey(await keyring?.get().catch(() => null))
  if (!kept && !create) return undefined
  const key = kept ?? randomBytes(KEY_BYTES)
  if (!kept && !(await isSaved(key, keyring))) return writeKeyFile(file, key)
  keysOfKeyring.set(folder, key)
  return key
}

async function isSaved(key: Buffer, keyring: Keyring | undefined): Promise<boolean> {
  if (!keyring) return false
  return keyring.set(key.toString('base64')).then(
    () => true,
    () => false,
  )
}

/**
 * On Linux only the Secret Service will do: the kernel keyring, which the library would fall back to, forgets everything on
 * shutdown.
 */
async function systemKeyring(folder: string): Promise<Keyring | undefined> {
  if (process.env.TOOLPOST_KEYRING === 'off') return undefined
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring')
    const entry = new AsyncEntry(SERVICE, folder, { linux: { store: 'secret-service' } })
    const limit = () => AbortSignal.timeout(KEYRING_MS)
    return {
      get: () => entry.getPassword(limit()),
      set: value => entry.setPassword(value, limit()),
    }
  } catch {
    // Not installed, or no keyring on this system.
    return undefined
  }
}

async function readKeyFile(file: string): Promise<Buffer | undefined> {
  try {
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600)
    return asKey(await readFile(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** Writes atomically; if another process was first, its key wins. */
async function writeKeyFile(file: string, key: Buffer): Promise<Buffer | undefined> {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, key.toString('base64'), { mode: 0o600, flag: 'wx' })
  await link(draft, file).catch(() => {})
  await rm(draft, { force: true })
  return readKeyFile(file)
}

function asKey(text: string | null | undefined): Buffer | undefined {
  const key = Buffer.from(text ?? '', 'base64')
  return key.length === KEY_BYTES ? key : undefined
}
