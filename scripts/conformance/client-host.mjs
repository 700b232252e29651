// The suite starts a program for every scenario. Ours only passes the scenario to this process, which has everything loaded.
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { runScenario } from './client.mjs'

const program = join(dirname(fileURLToPath(import.meta.url)), 'client-command.mjs')

export async function hostClient() {
  const server = createServer(async (request, response) => {
    const scenario = JSON.parse(await text(request))
    const lines = []
    const isConnected = await runScenario(scenario, line => lines.push(line)).catch(error => {
      lines.push(error.stack)
      return false
    })
    response.end(JSON.stringify({ isConnected, lines }))
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    command: `${process.execPath} ${program} ${server.address().port}`,
    close: () => new Promise(resolve => server.close(resolve)),
  }
}
