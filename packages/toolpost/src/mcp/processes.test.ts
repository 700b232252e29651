import { expect, it } from 'vitest'
import { isRunning, startServers } from '../../test/hostile-server/harness.ts'
import { unharmed } from '../../test/unharmed.ts'

/** A server in a few lines of shell, with a child of its own: it starts in no time. */
const script = `
sleep 1000 & echo "child $!" >&2
while IFS= read -r line; do case "$line" in
*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}';;
*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}';;
esac; done`

async function startAndKill(isKilled: boolean): Promise<number[]> {
  const server = await startServers({ quick: { command: '/bin/sh', args: ['-c', script] } })
  const { pid = 0, state, stderr } = server.status()
  expect(state).toBe('ready')
  const pids = [pid, Number(/child (\d+)/.exec(stderr)?.[1])]
  expect(pids.map(isRunning)).toEqual([true, true])
  if (isKilled) process.kill(pid, 'SIGKILL')
  await server.mcp.close()
  return pids
}

/** Some at a time, every other one killed. */
async function startAndKillAll(count: number, atOnce: number): Promise<number[]> {
  const lanes = Array.from({ length: atOnce }, async (_, lane) => {
    const pids: number[] = []
    for (let cycle = 0; cycle < count / atOnce; cycle++)
      pids.push(...(await startAndKill((cycle + lane) % 2 === 0)))
    return pids
  })
  return (await Promise.all(lanes)).flat()
}

it('[F15] 200 servers that are started and killed leave no process, and are felt by nobody else', {
  timeout: 60_000,
}, async () => {
  const pids = [await startAndKillAll(184, 8), await unharmed(() => startAndKillAll(16, 2))].flat()
  expect(pids).toHaveLength(400)
  expect(pids.filter(isRunning)).toEqual([])
})
