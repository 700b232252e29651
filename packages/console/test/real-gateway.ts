import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../toolpost/bin/toolpost.cjs', import.meta.url))

export interface RealGateway {
  url: string
  /** The address of the console, with the token. */
  console: string
  /** What its owner sends. */
  headers: Record<string, string>
  stop(): Promise<void>
}

/**
 * The product itself, as `npm start` runs it: offline model, on a free port; with the built-in example and its virtual
 * home, unless a configuration is given.
 */
export async function startProduct(flags: string[] = [], config?: object): Promise<RealGateway> {
  const env = { ...process.env, TOOLPOST_TOKEN: '', OLLAMA_HOST: '127.0.0.1:9', ANTHROPIC_API_KEY: '' }
  // Of its own: it keeps its history there.
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-product-'))
  if (config) writeFileSync(join(folder, 'toolpost.json'), JSON.stringify(config))
  const child = spawn(process.execPath, [command, 'up', '--port', '0', ...flags], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const address = await addressOf(child)
  const [url = '', token = ''] = address.split('#token=')
  const headers = { authorization: `Bearer ${decodeURIComponent(token)}` }
  const stop = () => end(child).then(() => rmSync(folder, { recursive: true, force: true }))
  return { url, console: address, headers, stop }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const [, address] = /^Console {2}(\S+)$/.exec(line) ?? []
    if (address) return address
  }
  throw new Error('toolpost up exited without printing its address')
}

function end(child: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}
