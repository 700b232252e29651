// A user's bug as a test: `toolpost up --record bug.jsonl` wrote the file. No model, no home and no network are needed.
import { fileURLToPath } from 'node:url'
import { ToolExecutor, ToolManager } from 'toolpost'
import { replay } from 'toolpost/interceptors'
import { ModelClient, replayModel } from 'toolpost/models'
import { readCassette } from 'toolpost/testing'
import { expect, it } from 'vitest'

const bug = fileURLToPath(new URL('bug.jsonl', import.meta.url))

it('does not claim that a jammed door is locked', async () => {
  const executor = new ToolExecutor(new ToolManager())
  executor.use(replay(bug))
  const client = new ModelClient({ model: replayModel(bug), executor })

  const answer = await client.ask('Is the back door locked? If not, lock it.')

  expect(answer.text).toMatch(/could not lock/)
  expect(answer.results.map(({ tool_name, success }) => [tool_name, success])).toEqual([
    ['get_device_sensor_data', true],
    ['control_lock', false],
  ])
  // Every recorded call was made again.
  expect(answer.results).toHaveLength(readCassette(bug).calls.length)
})
