// A spoken sentence calls a tool: the recording is transcribed locally, by the model that comes with the voice gateway.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { defineTool, ToolExecutor, ToolManager } from 'toolpost'
import { OfflineClient } from 'toolpost/models'
import { BackgroundTranscriber, MoonshineTranscriber } from 'voice-gateway'

const tools = new ToolManager()
tools.addCustomTool(
  defineTool({
    name: 'water_garden',
    description: 'Waters the garden',
    schema: {
      type: 'object',
      properties: { minutes: { type: 'integer', minimum: 1, maximum: 60 } },
      required: ['minutes'],
    },
    sentences: ['water the garden for {minutes} minutes'],
    handler: async ({ minutes }) => `Watering for ${minutes} minutes.`,
  }),
)

const transcriber = new MoonshineTranscriber()
const voice = new BackgroundTranscriber({
  transcriber,
  client: new OfflineClient(), // or any other client of toolpost/models
  executor: new ToolExecutor(tools),
  // speaker: await findSpeaker(), to hear the answer
  bus: {
    transcription: ({ text }) => console.log('Heard: ', text),
    response: ({ text, durations }) => console.log('Answer:', text, durations),
  },
})

const taken = voice.take({ wav: await readFile('command.wav') })
assert(taken.accepted)
const response = await taken.done
await transcriber.close()

assert.equal(response.text, 'Watering for 10 minutes.')
assert.deepEqual(
  response.calls.map(({ name, args, success }) => ({ name, args, success })),
  [{ name: 'water_garden', args: { minutes: 10 }, success: true }],
)
