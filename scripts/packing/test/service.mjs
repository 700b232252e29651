// The Dockerfile's image without Docker: its command, environment and health check in a plain folder.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { words } from './dockerfile.mjs'
import { environment } from './project.mjs'

async function freePort() {
  const server = createServer().listen(randomInt(20_000, 30_000), '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** Starts the container's command; resolves when it is ready. `data` is the container's volume. */
export async function startService(folder, data, { token, more = [] } = {}) {
  const port = await freePort()
  const [program, ...args] = [
    ...words('toolpost', 'ENTRYPOINT', folder),
    ...words('toolpost', 'CMD', folder),
    '--port',
    String(port),
    ...more,
  ]
  const env = { ...environment, ...(token && { TOOLPOST_TOKEN: token }), NODE_ENV: 'production' }
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: data,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', line => lines.push(line))
  const url = `http://127.0.0.1:${port}`
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const service = {
    child,
    lines,
    url,
    port,
    fetch: (path, options = {}) =>
      fetch(url + path, { ...options, headers: { ...headers, ...options.headers } }),
  }
  await ready(service)
  return service
}

async function ready({ child, lines, url }) {
  for (
    const deadline = Date.now() + 60_000;
    Date.now() < deadline;
    await new Promise(done => setTimeout(done, 50))
  ) {
    if (child.exitCode !== null) break
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    if (answer?.ok) return
  }
  child.kill('SIGKILL')
  throw new Error(`It did not become ready:\n${lines.join('\n')}`)
}

/** The exit code of the image's health check against a service. */
export async function healthCheck(folder, { port }) {
  const [program, ...args] = words('toolpost', 'HEALTHCHECK', folder)
  const child = spawn(
    program === 'node' ? process.execPath : program,
    args.map(word => word.replaceAll(':4040', `:${port}`)),
    { stdio: 'ignore' },
  )
  const [code] = await once(child, 'exit')
  return code
}

/** Sends SIGTERM to the process itself, which must exit with code 0. */
export async function stopService({ child, lines }) {
  const over = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  const [code, signal] = await over
  clearTimeout(timer)
  if (code !== 0) throw new Error(`It exited with ${signal ?? code}:\n${lines.join('\n')}`)
}
