// A gateway like that of `toolpost up`, with the fixture server behind it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serveGateway } from 'toolpost/gateway'
import { openProject } from 'toolpost/project'
import { recordingLogger } from 'toolpost/testing'

const fixture = join(dirname(fileURLToPath(import.meta.url)), 'fixtures/server.mjs')

/** `era`: the fixture's protocol, so that a client of the same protocol is asked as it expects. */
export async function startGateway(era, { verbose = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'toolpost-conformance-'))
  const file = join(folder, 'toolpost.json')
  const server = { command: process.execPath, args: [fixture, era], sampling: true }
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { fixture: server }, policy: [{ then: 'allow' }], history: false }),
  )
  const say = line => verbose && console.error(line)
  const logger = recordingLogger()
  const project = await openProject({ file, say, logger: () => logger })
  // The suite sends no token.
  const gateway = await serveGateway({ project, port: 0, token: false, logger })
  await project.start()
  return {
    url: `${gateway.url}mcp`,
    async close() {
      await gateway.close({ drainMs: 0 })
      await project.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
