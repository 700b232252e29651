import { expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { configFolder } from '../../test/config-folder.ts'
import { dataOf } from '../../test/gateway.ts'
import { startUp } from '../../test/up.ts'

const { toolpost } = commandLine()

it('toolpost approvals lists what waits and decides it by the beginning of its id, once', async () => {
  const policy = [{ tools: 'echo', then: 'ask', because: 'to be sure' }]
  const cwd = configFolder({ 'toolpost.json': { model: 'offline', policy } })
  await using gateway = await startUp(cwd)
  const approvals = (...words: string[]) => toolpost(['approvals', ...words], { cwd })
  const call = (disk: string) =>
    dataOf(gateway.ask('api/tools/echo/call', { method: 'POST', body: JSON.stringify({ disk }) }))
  const waiting = async () => (await dataOf(gateway.ask('api/approvals'))).approvals
  expect(await approvals()).toEqual({ code: 0, out: '', err: 'Nothing is waiting for approval.\n' })
  const allowed = call('a\u202e')
  await expect.poll(waiting, { timeout: 15_000 }).toHaveLength(1)
  const [{ id }] = await waiting()
  expect((await approvals()).out).toBe(`${id}  echo {"disk":"a\\u202e"}\n  asked by http: to be sure\n`)
  expect(JSON.parse((await approvals('--json')).out)).toMatchObject([{ id, tool: 'echo' }])
  expect(await approvals('approve', id.slice(0, 8))).toEqual({ code: 0, out: '', err: 'Approved.\n' })
  expect(await allowed).toMatchObject({ success: true, result: { echo: { disk: 'a\u202e' } } })
  const again = await approvals('approve', id)
  expect(again).toEqual({ code: 2, out: '', err: 'Error: No pending approval with this id\n' })
  const denied = call('b')
  await expect.poll(waiting, { timeout: 15_000 }).toHaveLength(1)
  expect((await approvals('deny', (await waiting())[0].id)).err).toBe('Denied.\n')
  expect(await denied).toMatchObject({ success: false, code: 'denied' })
}, 60_000)
